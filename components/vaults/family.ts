import { Vault } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const vaults: PageFamily = {
  name: 'vaults',
  pages: [
    {
      id: 'vaults',
      label: 'Vaults',
      icon: Vault,
      scope: 'space',
      path: '/vaults',
      group: 'data',
      order: 10,
      needs: 'vault:read',
      docs: 'vaults',
    },
  ],
  resources: [{ type: 'vault', noun: 'vault', plural: 'vaults', icon: Vault, path: (id) => `/vaults/${id}` }],
};
