import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make, ids) => {
    const { id } = await make('clients.create', { name: 'Office', type: 'user', ip_address: '203.0.113.0/24' });
    ids.office = String(id);
  },
};
