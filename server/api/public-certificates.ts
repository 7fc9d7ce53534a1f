import { digest } from '#server/crypto/tokens.ts';
import { publicFile } from '#server/domain/pki/service.ts';
import { isKnownTag } from '#server/kernel/entity-tag.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { type Edge, edgeOf } from './edge.ts';
import { secured } from './respond.ts';

/** Calls of one address in a minute. */
const MOST_A_MINUTE = 600;
/** Seconds that a file may be kept: certificates never change, a list must be seen soon. */
const MAX_AGE = { 'application/pkix-cert': 86_400, 'text/x-pem-file': 300, 'application/pkix-crl': 300 };

/**
 * Certificates and revocation lists of roots that publish them (interface rule 43 §8), for anybody. What is unknown and what isn't published are one
 * answer with no body.
 */
export async function handlePublicCertificates(req: Request, edge = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  const answered = await answer(req, edge).catch((error: unknown) => {
    logFailure(error, edge.request_id, 'cannot answer with a public certificate');
    return new Response(null, { status: asRefusal(error).status === 503 ? 503 : 500 });
  });
  return secured(answered, edge.request_id);
}

/** Whether a path is of this plane: the rest of /pub is not. */
export const isPublicPki = (path: string): boolean => ROOT_PATH.test(path);

async function answer(req: Request, edge: Edge): Promise<Response> {
  const found = ROOT_PATH.exec(new URL(req.url).pathname)?.groups;
  const root = found && (await publishedRoot(found));
  if (!root) return missing();
  if (req.method !== 'GET' && req.method !== 'HEAD') return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
  if (await isTooOften(edge)) return new Response(null, { status: 429, headers: { 'retry-after': '60' } });
  const ctx = systemContext(db(), { ...root, now: new Date(), label: 'public certificates' });
  const file = await publicFile(ctx, root.id, found?.file ?? '');
  if (!file) return missing();
  const headers = {
    'cache-control': `public, max-age=${MAX_AGE[file.type]}`,
    etag: `"${digest(Buffer.from(file.body)).toString('base64url')}"`,
  };
  if (isKnownTag(req.headers.get('if-none-match'), headers.etag)) return new Response(null, { status: 304, headers });
  return new Response(req.method === 'HEAD' ? null : file.body, {
    headers: { ...headers, 'content-type': file.type, 'content-length': String(file.body.length) },
  });
}

const ROOT_PATH = /^\/pub\/(?<slug>[a-z0-9-]+)\/(?<test>test\/)?pki\/(?<root>[0-9A-Fa-f-]+)\/(?<file>[0-9A-Za-z./-]+)$/;

export type PublishedRoot = { id: string; tenant_id: string; sandbox: boolean };

/**
 * The root of an address. Certificates name the slug that the workspace had when the root was made, so an address with that one works for as long as the
 * root does; its present slug works as well.
 */
export async function publishedRoot(at: { [part: string]: string | undefined }): Promise<PublishedRoot | null> {
  const { slug = '', test, root = '' } = at;
  if (!isUuid(root)) return null;
  const row = await db().pki_roots.findFirst({
    where: { id: root.toLowerCase(), sandbox: test !== undefined, publish: true },
    select: { id: true, tenant_id: true, sandbox: true, public_slug: true },
  });
  const tenant = row && (await db().tenants.findFirst({ where: { id: row.tenant_id, deleted_at: null }, select: { slug: true } }));
  if (!row || !tenant || (slug !== row.public_slug && slug !== tenant.slug)) return null;
  return { id: row.id, tenant_id: row.tenant_id, sandbox: row.sandbox };
}

/** Counting failures let the call pass: the limit keeps one address from crowding out others, and nothing here is secret. */
export async function isTooOften({ ip }: Pick<Edge, 'ip'>): Promise<boolean> {
  const window = Math.floor(Date.now() / 60_000);
  return (await windowCounter()(`pki-pub:${ip ?? ''}`, window, 60, MOST_A_MINUTE + 1).catch(() => 0)) > MOST_A_MINUTE;
}

const missing = () => new Response(null, { status: 404 });
