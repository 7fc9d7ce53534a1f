// What is compared with in `npm run bench oauth`: oidc-provider, which mints opaque tokens and introspects them, with its own store in memory.
import Provider from 'oidc-provider';

const { port, clients } = JSON.parse(process.argv[2] ?? '') as { port: number; clients: { id: string; secret: string }[] };

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: clients.map(({ id, secret }) => ({
    client_id: id,
    client_secret: secret,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: 'client_secret_basic' as const,
    scope: 'routes:read',
  })),
  scopes: ['routes:read'],
  ttl: { ClientCredentials: 3600 },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
  },
});
provider.listen(port, '127.0.0.1');
