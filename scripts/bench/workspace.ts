import { entitled } from '../entitled.ts';
import { SECURE_HOST } from './nginx.ts';
import type { Installation } from './service.ts';

/** Slug of a second route, which is the same but keeps the payloads of its calls. */
export const KEEPING = 'keeping';

/** Slugs of routes that are the same but put a token in place of the value at `$.card.number` of a body, or the value in place of its token. */
export const TOKENIZING = 'tokenizing';
export const DETOKENIZING = 'detokenizing';
/** The value that is measured with, and whose token a workspace has. */
export const CARD = '4242424242424242';

/** Slug of a route that is the same but takes the token of an OAuth2 connection in place of the secret. */
export const CONNECTED = 'connected';

/** Slug of a route with the secret as a header and nothing else, to an upstream over TLS. */
const SECURE = 'secure';
type Addressed = { url: string; headers: Record<string, string> };
/** One provider's key, put in by a route, by the ephemeral proxy and by a gateway token. */
export type Wrapped = { route: Addressed; proxy: Addressed; token: Addressed };

/** What a caller needs to make the call that is measured. */
export type Callable = Addressed & { token: string; wrapped: Wrapped };

/**
 * A workspace with one route as a careful customer sets it up: a required client by address, a secret injected as a header, a rate limit,
 * and the call log, made by the same verbs as the API's. Limits are on but high.
 */
export async function makeWorkspace({ ports }: Installation, slug: string, upstreamPort: number): Promise<Callable> {
  const operator = await import('../../server/domain/operator/service.ts');
  const { createSecret } = await import('../../server/domain/secrets/service.ts');
  const { createClient } = await import('../../server/domain/clients/service.ts');
  const { setRouteClients } = await import('../../server/domain/routes/clients/service.ts');
  const { createRoute } = await import('../../server/domain/routes/service.ts');
  const { CreateRoute } = await import('../../server/domain/routes/schema.ts');
  const { CreateClient } = await import('../../server/domain/clients/schema.ts');
  const { createFieldAction } = await import('../../server/domain/routes/actions/service.ts');
  const { CreateFieldAction } = await import('../../server/domain/routes/actions/schema.ts');
  const { createVault } = await import('../../server/domain/vaults/service.ts');
  const { CreateVault } = await import('../../server/domain/vaults/schema.ts');
  const { findVault } = await import('../../server/custody/vaults/vaults.ts');
  const { tokenize } = await import('../../server/custody/vaults/tokenize.ts');
  const { createWrapCredential } = await import('../../server/domain/wrap/credentials.ts');
  const { createWrapToken } = await import('../../server/domain/wrap/tokens.ts');
  const { CreateWrapCredential } = await import('../../server/domain/wrap/schema.ts');

  const { createConnection } = await import('../../server/domain/secrets/connections/create.ts');
  const { CreateConnection } = await import('../../server/domain/secrets/connections/schema.ts');
  const { startTokenServer } = await import('../../server/custody/connections/token-server.fixture.ts');

  const tenant = await operator.provisionTenant({ slug, plan: 'enterprise', starter: false });
  await operator.setLimit({ slug, kind: 'tenant_rps', value: 1_000_000, reason: 'benchmark' });
  const ctx = () => entitled(operator.operatorCtx(tenant.id, 'live'));
  await createSecret(ctx(), { name: 'UPSTREAM_KEY', value: 'sk_live_0123456789abcdef0123456789abcdef' });
  const client = await createClient(ctx(), CreateClient.parse({ name: 'load', ip_address: '127.0.0.1' }));
  const settings = {
    target_base_url: `http://127.0.0.1:${upstreamPort}`,
    inject_headers_json: { Authorization: 'Bearer {{secret:UPSTREAM_KEY}}' },
    requires_clients: true,
    rate_limit_enabled: true,
    rate_limit_requests: 1_000_000,
    rate_limit_window_sec: 1,
  };
  await createVault(ctx(), CreateVault.parse({ name: 'cards', dedupe: true }));
  const vault = await findVault(ctx(), 'cards');
  const token = (vault && (await tokenize(ctx(), vault, [{ value: CARD }]))[0]?.token) ?? '';
  const routes = [
    { slug: 'orders' },
    { slug: KEEPING, log_payloads: 'all' },
    { slug: TOKENIZING, action: 'tokenize' },
    { slug: DETOKENIZING, action: 'detokenize' },
  ];
  for (const { action, ...route } of routes) {
    const { id, base_environment } = await createRoute(ctx(), CreateRoute.parse({ ...settings, name: route.slug, ...route }));
    await setRouteClients(ctx(), { id, env: base_environment ?? '', client_ids: [client.id] });
    const field = { id, direction: 'request', action, key_name: 'cards', selectors: ['$.card.number'] };
    if (action) await createFieldAction(ctx(), CreateFieldAction.parse(field));
  }
  const { url: token_url } = await startTokenServer();
  const connection = { name: 'CONNECTION', provider: 'custom', grant_type: 'client_credentials', token_url };
  await createConnection(ctx(), CreateConnection.parse({ ...connection, client_id: 'bench', client_secret: 'a secret of the bench' }));
  const connected = {
    ...settings,
    inject_headers_json: { Authorization: 'Bearer {{secret:CONNECTION}}' },
    name: CONNECTED,
    slug: CONNECTED,
  };
  const { id, base_environment } = await createRoute(ctx(), CreateRoute.parse(connected));
  await setRouteClients(ctx(), { id, env: base_environment ?? '', client_ids: [client.id] });
  const plain = { target_base_url: `https://${SECURE_HOST}`, inject_headers_json: settings.inject_headers_json };
  await createRoute(ctx(), CreateRoute.parse({ ...plain, name: SECURE, slug: SECURE }));
  const escrowed = { provider: 'bench', name: 'WRAPPED_KEY', value: 'sk_live_0123456789abcdef0123456789abcdef', hosts: [SECURE_HOST] };
  await createWrapCredential(ctx(), CreateWrapCredential.parse(escrowed));
  const wrap = await createWrapToken(ctx(), { secret: 'WRAPPED_KEY' });
  const key = await operator.createKey({ slug, space: 'live', role: 'Key - Infrastructure' });
  const { env } = await import('../../server/platform/env.ts');
  const headers = { Host: `${slug}.${env.PROXY_BASE_HOST}:${ports.proxy}`, 'X-Svc-Key': key.api_key };
  const named = { 'X-Svc-Proxy-URL': `https://${SECURE_HOST}/small`, 'X-Svc-Upstream-Auth-Secret': 'WRAPPED_KEY' };
  return {
    url: `http://127.0.0.1:${ports.proxy}/orders`,
    headers,
    token,
    wrapped: {
      route: { url: `http://127.0.0.1:${ports.proxy}/${SECURE}`, headers },
      proxy: { url: `http://127.0.0.1:${ports.api}/v1/proxy`, headers: { Authorization: `Bearer ${key.api_key}`, ...named } },
      token: { url: `http://127.0.0.1:${ports.api}/wg/${wrap.token}/${SECURE_HOST}`, headers: {} },
    },
  };
}
