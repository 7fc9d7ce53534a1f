import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    const { id } = await make('oauth_clients.create', {
      name: 'GitHub Actions',
      grant_types: [TOKEN_EXCHANGE],
      allowed_scopes: ['routes:read', 'routes:write'],
    });
    // Off: it is an example, and nobody's repository.
    await make('trust_bindings.create', {
      ...{ id, name: 'Deploy from main', provider: 'github_actions', subject: 'repo:acme/app:ref:refs/heads/main' },
      ...{ claims: { repository_owner_id: '1234567' }, scopes: ['routes:read', 'routes:write'], ttl_seconds: 900, enabled: false },
    });
  },
};
