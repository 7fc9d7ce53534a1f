import { CreditCard } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const billing: PageFamily = {
  name: 'billing',
  pages: [
    {
      id: 'billing',
      label: 'Billing',
      icon: CreditCard,
      scope: 'workspace',
      path: '/settings/billing',
      group: 'settings',
      order: 28,
      needs: 'billing:read',
      docs: 'billing',
    },
  ],
  resources: [{ type: 'billing', noun: 'subscription' }],
};
