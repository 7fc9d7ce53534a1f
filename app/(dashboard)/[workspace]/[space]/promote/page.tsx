import type { Metadata } from 'next';
import { PromoteView } from '#components/sandbox/promote-view.tsx';

export const metadata: Metadata = { title: 'Promote and copy' };

export default function PromotePage() {
  return <PromoteView />;
}
