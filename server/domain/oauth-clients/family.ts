import { family } from '#server/kernel/family.ts';

export const oauthClients = family({
  name: 'oauth-clients',
  resources: [{ type: 'oauth_client', limit: 'oauth_clients' }],
  tables: [
    // Clients that mirror API keys go with them.
    { name: 'oauth_clients', reset: 'delete' },
    { name: 'oauth_client_secrets', reset: 'cascade' },
    { name: 'oauth_trust_bindings', reset: 'cascade' },
  ],
});
