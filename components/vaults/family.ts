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
      keywords: ['tokenize', 'detokenize', 'tokens', 'card', 'pan', 'pci', 'ssn', 'iban', 'format-preserving'],
      needs: 'vault:read',
      docs: 'vaults',
    },
  ],
  resources: [{ type: 'vault', noun: 'vault', plural: 'vaults', icon: Vault, path: (id) => `/vaults/${id}` }],
  picker: {
    fields: ['vault_id'],
    nameFields: ['vault'],
    list: (trpc, query) => trpc.vaults.list.queryOptions({ per_page: query.per_page }),
    searches: false,
  },
};
