import type { Metadata } from 'next';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { RolesView } from '#components/roles/roles-view.tsx';

export const metadata: Metadata = { title: 'Roles' };

export default function RolesPage() {
  return (
    <NuqsAdapter>
      <RolesView />
    </NuqsAdapter>
  );
}
