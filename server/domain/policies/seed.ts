import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('policies.create', {
      name: 'No payloads',
      actions: ['log:read_payload'],
      subjects: { all: true },
      reason: 'An example. Turn it on to keep stored payloads sealed for everybody.',
      enabled: false,
    });
  },
};
