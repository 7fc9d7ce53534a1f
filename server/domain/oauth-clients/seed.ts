import type { Seed } from '#server/kernel/seed.ts';
import { TOKEN_EXCHANGE } from './grants.shared.ts';

export const seed: Seed = {
  run: async (make, ids) => {
    await make('oauth_clients.create', { name: 'Deploy bot', allowed_scopes: ['routes:read', 'routes:write', 'logs:read'] });
    await make('oauth_clients.create', {
      name: 'Acme Console',
      type: 'public',
      redirect_uris: ['http://127.0.0.1/callback', 'https://console.example.com/callback'],
      allowed_scopes: ['account:read', 'routes:read', 'secrets:read', 'secrets:write'],
      step_up_scopes: ['secrets:write'],
    });
    const { id } = await make('oauth_clients.create', {
      name: 'GitHub Actions',
      grant_types: [TOKEN_EXCHANGE],
      allowed_scopes: ['routes:read', 'routes:write'],
    });
    ids.github_actions = String(id);
  },
};
