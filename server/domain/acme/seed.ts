import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['pki'],
  run: async (make) => {
    for (const label of ['web-1', 'cert-manager']) await make('acme.create_account', { name: 'corp', role: 'internal-services', label });
  },
};
