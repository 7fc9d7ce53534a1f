import type { Metadata } from 'next';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { PoliciesView } from '#components/policies/policies-view.tsx';

export const metadata: Metadata = { title: 'Policies' };

export default function PoliciesPage() {
  return (
    <NuqsAdapter>
      <PoliciesView />
    </NuqsAdapter>
  );
}
