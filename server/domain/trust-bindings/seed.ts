import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['oauth-clients'],
  run: async (make, ids) => {
    // Off: it is an example, and nobody's repository.
    await make('trust_bindings.create', {
      ...{ id: ids.github_actions, name: 'Deploy from main', provider: 'github_actions', subject: 'repo:acme/app:ref:refs/heads/main' },
      ...{ claims: { repository_owner_id: '1234567' }, scopes: ['routes:read', 'routes:write'], ttl_seconds: 900, enabled: false },
    });
  },
};
