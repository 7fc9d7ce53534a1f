import { digest } from '#server/crypto/tokens.ts';
import { getPublicJwks } from '#server/domain/crypto-keys/service.ts';
import { isKnownTag } from '#server/kernel/entity-tag.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { edgeOf } from './edge.ts';
import { secured, type Wire } from './respond.ts';

/**
 * The public key sets of crypto keys (interface rule 40 §5.6): RFC 7517, for anybody. A set that is off, a key that is unknown or deleted, and a path that
 * names nothing are one answer with no body.
 */
export async function handlePublicKeys(req: Request, edge = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  const wire = await answer(req).catch((error: unknown) => {
    const { status, type } = asRefusal(error);
    if (type === 'not_found') return MISSING;
    logFailure(error, edge.request_id, 'cannot answer with a public key set');
    return { status: status === 503 ? 503 : 500, body: '', headers: ANYWHERE };
  });
  const bare = req.method === 'HEAD' || wire.body === '';
  return secured(new Response(bare ? null : wire.body, { status: wire.status, headers: wire.headers }), edge.request_id);
}

async function answer(req: Request): Promise<Wire> {
  const path = new URL(req.url).pathname;
  const asked = PATHS.map(({ pattern, sandbox }) => ({ sandbox, found: pattern.exec(path)?.groups })).find(({ found }) => found);
  if (!asked?.found) return MISSING;
  if (req.method === 'OPTIONS') return { status: 204, body: '', headers: { ...ANYWHERE, 'access-control-max-age': '86400' } };
  if (req.method !== 'GET' && req.method !== 'HEAD')
    return { status: 405, body: '', headers: { ...ANYWHERE, allow: 'GET, HEAD, OPTIONS' } };
  const { slug = '', key_id = '' } = asked.found;
  const tenant = isUuid(key_id) ? await db().tenants.findFirst({ where: { slug, deleted_at: null }, select: { id: true } }) : null;
  if (!tenant) return MISSING;
  const ctx = systemContext(db(), { tenant_id: tenant.id, sandbox: asked.sandbox, now: new Date(), label: 'public key set' });
  const body = JSON.stringify(await getPublicJwks(ctx, key_id.toLowerCase()));
  const headers = { ...ANYWHERE, 'cache-control': 'public, max-age=300', etag: `"${digest(body).toString('base64url')}"` };
  if (isKnownTag(req.headers.get('if-none-match'), headers.etag)) return { status: 304, body: '', headers };
  return { status: 200, body, headers: { ...headers, 'content-type': 'application/jwk-set+json' } };
}

const PATHS = [
  {
    sandbox: false,
    http: 'GET /pub/{slug}/jwks/{key_id}.json',
    pattern: /^\/pub\/(?<slug>[a-z0-9-]+)\/jwks\/(?<key_id>[0-9A-Fa-f-]+)\.json$/,
  },
  {
    sandbox: true,
    http: 'GET /pub/{slug}/test/jwks/{key_id}.json',
    pattern: /^\/pub\/(?<slug>[a-z0-9-]+)\/test\/jwks\/(?<key_id>[0-9A-Fa-f-]+)\.json$/,
  },
];

const ANYWHERE = { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET', 'access-control-expose-headers': 'ETag' };
const MISSING: Wire = { status: 404, body: '', headers: ANYWHERE };
