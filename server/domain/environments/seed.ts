import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('environments.create', { name: 'staging', color: '#f59e0b' });
  },
};
