import type { Metadata } from 'next';
import { SecurityView } from '#components/me/security-view.tsx';

export const metadata: Metadata = { title: 'Security' };

export default function SecurityPage() {
  return <SecurityView />;
}
