import { Network } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const clients: PageFamily = {
  name: 'clients',
  pages: [
    {
      id: 'clients',
      label: 'Clients',
      icon: Network,
      scope: 'space',
      path: '/clients',
      group: 'gateway',
      order: 30,
      keys: 'g c',
      needs: 'client:read',
      docs: 'clients',
      savedViews: { name: 'clients', share: 'client:update' },
      landing: 40,
    },
  ],
  resources: [
    { type: 'client', noun: 'client', plural: 'clients', icon: Network, path: (id) => `/clients/${id}`, promoted: 30 },
    { type: 'client_credential', noun: 'client credential' },
  ],
};
