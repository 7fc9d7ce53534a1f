import type { Metadata } from 'next';
import { RolesView } from '#components/roles/roles-view.tsx';

export const metadata: Metadata = { title: 'Roles' };

export default function RolesPage() {
  return <RolesView />;
}
