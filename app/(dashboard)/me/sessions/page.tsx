import type { Metadata } from 'next';
import { SessionsView } from '#components/me/sessions-view.tsx';

export const metadata: Metadata = { title: 'Sessions' };

export default function SessionsPage() {
  return <SessionsView />;
}
