import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const oauthClients = family({
  name: 'oauth-clients',
  namespace: 'oauth_clients',
  router: 'oauthClients',
  tag: 'OAuth clients',
  descriptions,
  operations,
  resources: [
    {
      type: 'oauth_client',
      limit: 'oauth_clients',
      search: { needs: 'oauth_client:list', page: (id) => `/oauth-clients/${id}` },
      actions: [
        {
          verb: /^(?:rotate|revoke)(?:\s+(?:oauth\s+)?clients?)?(?:\s+|$)/i,
          title: (name) => `Rotate or revoke OAuth client ${name}`,
          needs: 'oauth_client:rotate',
        },
      ],
    },
  ],
  tables: [
    // Clients that mirror API keys go with them.
    { name: 'oauth_clients', reset: 'delete' },
    { name: 'oauth_client_secrets', reset: 'cascade' },
  ],
  actions: [{ id: 'create-oauth-client', title: 'Create OAuth client', path: '/oauth-clients?open=new', needs: 'oauth_client:create' }],
});
