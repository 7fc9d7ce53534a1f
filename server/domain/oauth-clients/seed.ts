import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('oauth_clients.create', { name: 'Deploy bot', allowed_scopes: ['routes:read', 'routes:write', 'logs:read'] });
    await make('oauth_clients.create', {
      name: 'Acme Console',
      type: 'public',
      redirect_uris: ['http://127.0.0.1/callback', 'https://console.example.com/callback'],
      allowed_scopes: ['account:read', 'routes:read', 'secrets:read', 'secrets:write'],
      step_up_scopes: ['secrets:write'],
    });
  },
};
