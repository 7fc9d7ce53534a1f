import { contextOf, type Directory, directoryUrl, findDirectory } from '#server/domain/acme/directory.ts';
import { freshNonce } from '#server/domain/acme/nonces.ts';
import { AcmeProblem, malformed } from '#server/domain/acme/problem.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { env } from '#server/platform/env.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { type Edge, edgeOf } from '../edge.ts';
import { isTooOften } from '../public-certificates.ts';
import { json, secured, type Wire } from '../respond.ts';
import { ENDPOINTS } from './endpoints.ts';
import { directoryObject } from './objects.ts';
import { type AcmeTarget, acmeTarget } from './paths.ts';
import { asProblem, problemWire } from './problems.ts';
import { verifiedRequest } from './request.ts';

/**
 * The ACME server (RFC 8555; interface rule 43 §11.3) as one function. A path that leads to no role of a published root is a bare 404; every other answer is an
 * object of ACME or a problem document.
 */
export async function handleAcme(req: Request, edge: Edge | null = edgeOf(req.headers)): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  const url = new URL(req.url);
  const target = acmeTarget(url.pathname);
  const asked = { ip: edge.ip, user_agent: edge.user_agent, request_id: edge.request_id, now: new Date() };
  let directory: Directory | null = null;
  let wire: Wire;
  try {
    directory = target && (await findDirectory(target));
    if (!target || !directory) return secured(new Response(null, { status: 404 }), edge.request_id);
    if (await isTooOften(edge))
      throw new AcmeProblem('rateLimited', 'Too many requests from this address. Try again in a minute.', {
        headers: { 'retry-after': '60' },
      });
    wire = await answer(req, { directory, target, url, ctx: contextOf(directory, asked) });
  } catch (error) {
    const problem = asProblem(error);
    if (problem.status >= 500) logFailure(problem.more.cause ?? problem, edge.request_id, 'ACME request failed');
    wire = problemWire(problem);
  }
  const headers = directory && target ? { ...wire.headers, ...protocolHeaders(directory, target, wire, asked.now) } : wire.headers;
  const bare = req.method === 'HEAD' || wire.body === '';
  return secured(new Response(bare ? null : wire.body, { status: wire.status, headers }), edge.request_id);
}

type Asked = { directory: Directory; target: AcmeTarget; url: URL; ctx: Ctx };

async function answer(req: Request, { directory, target, url, ctx }: Asked): Promise<Wire> {
  const { resource } = target;
  const reads = req.method === 'GET' || req.method === 'HEAD';
  if (resource === 'directory' && reads) return json(200, directoryObject(directory.base, `${env.PUBLIC_ADMIN_URL}/docs/acme`));
  // RFC 8555 §7.2: 200 for HEAD, 204 for GET.
  if (resource === 'new-nonce' && reads) return { status: req.method === 'HEAD' ? 200 : 204, body: '', headers: {} };
  if (resource === 'directory' || resource === 'new-nonce') return notAllowed('GET, HEAD');
  if (req.method !== 'POST') return notAllowed('POST');
  const { signer, run } = ENDPOINTS[resource];
  // The URL that clients sign is the public one, whatever host the request came by.
  const signed = new URL(`${url.pathname}${url.search}`, directory.base);
  const request = await verifiedRequest(req, { directory, ctx, url: signed.href, signer });
  return run({ directory, ctx, target, url: signed, request });
}

const notAllowed = (allow: string): Wire => {
  const { status, ...wire } = problemWire(malformed(`Method not allowed. This path supports ${allow}.`));
  return { ...wire, status: 405, headers: { ...wire.headers, allow } };
};

/** A nonce for the next request, and where everything begins (RFC 8555 §6.5, §7.1). */
function protocolHeaders({ base }: Directory, { resource }: AcmeTarget, { headers }: Wire, now: Date): Record<string, string> {
  if (resource === 'directory') return {};
  const index = `<${directoryUrl(base)}>;rel="index"`;
  return { 'replay-nonce': freshNonce(base, now), link: headers.link === undefined ? index : `${headers.link}, ${index}` };
}
