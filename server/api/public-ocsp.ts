import { LONGEST_OCSP_REQUEST } from '#server/crypto/pki/ocsp.ts';
import { digest } from '#server/crypto/tokens.ts';
import { answerOcsp } from '#server/domain/pki/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { type Edge, edgeOf } from './edge.ts';
import { bodyOf } from './input.ts';
import { isTooOften, publishedRoot } from './public-certificates.ts';
import { secured } from './respond.ts';

/** Seconds that an answer may be kept by whoever stands between. It would be valid for longer, but a revocation is to be seen soon. */
const MAX_AGE = 300;

/**
 * The OCSP responder of a root that is published (interface rule 43 §11.2), for anybody: POST, or GET with the request in base64 as the last part of the
 * path (RFC 6960, appendix A). What OCSP has an answer for is answered with 200 and that; what is unknown or not published is the bare 404 of the plane.
 */
export async function handlePublicOcsp(req: Request, edge = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  const answered = await answer(req, edge).catch((error: unknown) => {
    const { status } = asRefusal(error);
    logFailure(error, edge.request_id, 'cannot answer a question of OCSP');
    return new Response(null, { status });
  });
  return secured(answered, edge.request_id);
}

/** Whether a path is the responder's. */
export const isPublicOcsp = (path: string): boolean => PATH.test(path);

const PATH = /^\/pub\/(?<slug>[a-z0-9-]+)\/(?<test>test\/)?pki\/(?<root>[0-9A-Fa-f-]{36})\/ocsp(?:\/(?<asked>[^?#]+))?$/;

async function answer(req: Request, edge: Edge): Promise<Response> {
  const found = PATH.exec(new URL(req.url).pathname)?.groups;
  const root = found && (await publishedRoot(found));
  if (!root) return new Response(null, { status: 404 });
  const asked = found?.['asked'];
  const allow = asked === undefined ? ['POST'] : ['GET', 'HEAD'];
  if (!allow.includes(req.method)) return new Response(null, { status: 405, headers: { allow: 'GET, HEAD, POST' } });
  if (await isTooOften(edge)) return new Response(null, { status: 429, headers: { 'retry-after': '60' } });
  const request = asked === undefined ? Buffer.from(await bodyOf(req, LONGEST_OCSP_REQUEST)) : fromPath(asked);
  const ctx = systemContext(db(), { ...root, now: new Date(), label: 'OCSP responder' });
  const { der, kept } = await answerOcsp(ctx, root.id, request);
  const headers = {
    'content-type': 'application/ocsp-response',
    'content-length': String(der.length),
    'cache-control': kept && asked !== undefined ? `public, max-age=${MAX_AGE}, no-transform, must-revalidate` : 'no-store',
    ...(kept ? { etag: `"${digest(der).toString('base64url')}"` } : {}),
  };
  return new Response(req.method === 'HEAD' ? null : new Uint8Array(der), { headers });
}

/** Standard base64, its slashes and pluses escaped or not; no bytes for anything else, which is a malformed request. */
function fromPath(text: string): Buffer {
  const base64 = unescaped(text);
  const der = Buffer.from(base64, 'base64');
  return der.toString('base64').replaceAll('=', '') === base64.replaceAll('=', '') ? der : Buffer.alloc(0);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
