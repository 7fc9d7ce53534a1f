import type { Metadata } from 'next';
import { headers } from 'next/headers';
import { PreferencesView } from '#components/me/preferences-view.tsx';
import { frameOf } from '#server/trpc/frame.ts';

export const metadata: Metadata = { title: 'Preferences' };

export default async function PreferencesPage() {
  const frame = await frameOf(await headers());
  return <PreferencesView workspaces={(frame?.workspaces ?? []).map(({ id, name }) => ({ id, name }))} />;
}
