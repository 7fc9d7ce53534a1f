import type { RequestOrigin } from '../core/client-address.ts';
import type { ForwardablePlane, Surface } from './surface.ts';

/** Connection-level headers (RFC 9110 §7.6.1) and Expect, which is answered here. Content-Length stays: bodies pass unchanged. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
]);

/** What only this door may say, and what frameworks and proxies take for the truth about a request. */
const CLAIMS = new Set([
  'host',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'cf-connecting-ip',
  'true-client-ip',
  'fastly-client-ip',
  'x-request-id',
  'x-matched-path',
  'x-prerender-revalidate',
  'x-original-url',
  'x-rewrite-url',
  'x-http-method-override',
  'x-method-override',
  // Server actions are not used; without the header none can be called.
  'next-action',
  'next-resume',
]);
const CLAIM_PREFIXES = ['x-sallyport-', 'x-forwarded-', 'x-middleware-', 'x-nextjs-', 'x-next-', 'x-invoke-', 'x-vercel-', 'x-now-'];

/** What proxies and tunnels add, also those nobody told us about: the peer is then not the person. */
const RELAY = new Set([
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'cf-connecting-ip',
  'true-client-ip',
]);

/** Who the door says the caller is. `token` proves to the web process that it was the door. */
export type Facts = { token: string; match: ForwardablePlane; origin: RequestOrigin; requestId: string };

/** The flat header list for the web process: the caller's in their order, minus claims and connection headers, plus our facts. */
export function headersForWeb(raw: readonly string[], surface: Surface, facts: Facts): string[] {
  const { match, origin } = facts;
  const nominated = nominatedBy(raw);
  const out: string[] = ['host', origin.host];
  let chunked = false;
  let relayed = false;
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    if (name === 'transfer-encoding') chunked = true;
    if (RELAY.has(name)) relayed = true;
    if (HOP_BY_HOP.has(name) || CLAIMS.has(name) || nominated.has(name)) continue;
    if (CLAIM_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    // The router of the dashboard pages needs these; anywhere else they would change what the framework answers.
    if (surface !== 'pages' && (name === 'rsc' || name.startsWith('next-'))) continue;
    if (name === 'cookie' && (match.plane === 'tenant' || surface === 'management' || surface === 'scim')) continue;
    out.push(name, raw[i + 1] as string);
  }
  if (chunked) out.push('transfer-encoding', 'chunked');
  out.push('x-forwarded-for', origin.address, 'x-forwarded-proto', origin.proto, 'x-forwarded-host', origin.host);
  out.push('x-sallyport-front', facts.token, 'x-sallyport-plane', match.plane, 'x-sallyport-request-id', facts.requestId);
  out.push('x-sallyport-ip', origin.address, 'x-sallyport-proto', origin.proto);
  if (relayed) out.push('x-sallyport-relayed', '1');
  if ('space' in match) out.push('x-sallyport-space', match.space);
  if (match.plane === 'tenant') out.push('x-sallyport-tenant', match.slug);
  return out;
}

/** Names the Connection header gives away as meant for us only. */
function nominatedBy(raw: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    if ((raw[i] as string).toLowerCase() !== 'connection') continue;
    for (const name of (raw[i + 1] as string).split(',')) names.add(name.trim().toLowerCase());
  }
  // A caller must not drop what frames or authenticates the request by nominating it.
  for (const kept of ['content-length', 'content-type', 'authorization', 'cookie', 'origin', 'x-csrf-token']) names.delete(kept);
  return names;
}

/** Security headers of every answer (01 §4); HSTS only where the caller came by https. */
export function standardHeaders(surface: Surface, proto: 'http' | 'https'): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...(proto === 'https' ? { 'strict-transport-security': 'max-age=63072000; includeSubDomains' } : {}),
    ...(NO_STORE.has(surface) ? { 'cache-control': 'no-store' } : {}),
  };
}
const NO_STORE: ReadonlySet<Surface> = new Set(['management', 'oauth', 'scim', 'dashboard_api', 'hooks']);

/** The flat header list for the caller: web's own minus connection and private headers; `standard` fills in what web did not say. */
export function headersFromWeb(raw: readonly string[], surface: Surface, standard: Readonly<Record<string, string>>): string[] {
  const out: string[] = [];
  const said = new Set<string>();
  let isHtml = false;
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    if (name === 'x-sallyport-encoding') out.push('content-encoding', raw[i + 1] as string);
    if (HOP_BY_HOP.has(name) || name === 'x-powered-by' || name.startsWith('x-sallyport-') || name.startsWith('x-middleware-')) continue;
    // The framework's own headers say nothing to a caller of an API.
    if (surface !== 'pages' && (name.startsWith('x-nextjs-') || name.startsWith('x-next-'))) continue;
    const value = name === 'vary' && surface !== 'pages' ? variesBy(raw[i + 1] as string) : (raw[i + 1] as string);
    if (name === 'vary' && value === '') continue;
    said.add(name);
    if (name === 'content-type' && /^\s*text\/html\b/i.test(value)) isHtml = true;
    out.push(raw[i] as string, value);
  }
  for (const [name, value] of Object.entries(standard)) if (!said.has(name)) out.push(name, value);
  if (isHtml && !said.has('content-security-policy')) out.push('content-security-policy', STILL);
  return out;
}

/** Of a page that brings no policy, such as the framework's own for a missing file: it may be looked at, and runs and sends nothing. */
const STILL =
  "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Without the headers that only the router of the pages reads. */
const variesBy = (value: string): string =>
  value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => !/^(?:rsc|next-.*)$/i.test(name))
    .join(', ');

/** The values of `x-sallyport-changed`: `tenant_id:live` or `tenant_id:test`, one per workspace and space that was changed. */
export function changedBy(raw: readonly string[]): string[] {
  const values: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    if ((raw[i] as string).toLowerCase() === 'x-sallyport-changed') values.push(...(raw[i + 1] as string).split(','));
  }
  return values.map((value) => value.trim()).filter(Boolean);
}
