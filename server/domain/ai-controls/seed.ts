import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make, ids) => {
    const policy = await make('ai_controls.pii_policies.create', { name: 'Support', default_action: 'tokenize' });
    ids.pii_policy = String(policy.id);
  },
};
