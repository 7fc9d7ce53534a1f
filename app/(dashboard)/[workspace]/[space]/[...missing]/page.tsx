import type { Metadata } from 'next';
import { notFound } from 'next/navigation';

export const metadata: Metadata = { title: 'Page not found' };

/** Every address that no page has: its answer stands inside the frame. */
export default function Missing(): never {
  notFound();
}
