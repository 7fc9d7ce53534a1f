import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make, ids) => {
    const { id } = await make('collections.create', { name: 'Payments', description: 'Everything that moves money' });
    ids.payments = String(id);
    await make('collections.variables.create', { id, key: 'region', type: 'value', value: 'eu' });
  },
};
