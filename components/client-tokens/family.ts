import { TicketCheck } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const clientTokens: PageFamily = {
  name: 'client-tokens',
  pages: [
    {
      id: 'client-tokens',
      label: 'Client tokens',
      icon: TicketCheck,
      scope: 'space',
      path: '/client-tokens',
      group: 'data',
      order: 40,
      needs: 'transit:read',
      docs: 'client-tokens',
    },
  ],
  resources: [{ type: 'client_token', noun: 'client token' }],
};
