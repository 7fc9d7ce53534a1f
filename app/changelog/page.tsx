import type { Metadata } from 'next';
import { ChangelogPage } from '#components/changelog/changelog-page.tsx';

export const metadata: Metadata = { title: 'Changelog', alternates: { types: { 'application/rss+xml': '/changelog.xml' } } };

export default async function Changelog({ searchParams }: { searchParams: Promise<{ area?: string | string[] }> }) {
  return <ChangelogPage area={(await searchParams).area} />;
}
