import { withoutDashboardCookies } from '#server/kernel/dashboard-cookies.ts';
import { members } from '#server/kernel/list-header.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import type { Call } from './call.ts';
import { holdsOurs } from './presented-credential.ts';

/** Our name in Via (RFC 9110 §7.6.3). */
export const PSEUDONYM = 'svc-gateway';

/** Fields of one connection (RFC 9110 §7.6.1): never forwarded in either direction (interface rule 12 §6). */
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
]);
/**
 * Of the request, besides: what we decide ourselves, what tells third parties where callers are, and `Proxy`, which many an upstream's own library takes for
 * the proxy it shall call others by.
 */
export const OWN = new Set([
  'host',
  'content-length',
  'expect',
  'forwarded',
  'x-real-ip',
  'cf-connecting-ip',
  'true-client-ip',
  'proxy',
  ...HOP_BY_HOP,
]);

type Name = {
  /** Hyphenated: an upstream may read `X_Forwarded_For` as our X-Forwarded-For. */
  readonly meant: string;
  /** Never forwarded, whatever the route says. */
  readonly own: boolean;
};
const known = new Map<string, Name>();
const MOST_KNOWN = 2_000;
/** Longer ones would fill megabytes, and keep the heads that they were cut out of. */
const LONGEST_KNOWN = 64;

/** Classifies a name. The result is cached for a bounded number of names, since callers choose them. */
function judged(name: string): Name {
  const found = known.get(name);
  if (found) return found;
  const meant = hyphenated(name);
  const own = OWN.has(meant) || meant.startsWith('x-svc-') || meant.startsWith('x-forwarded-') || meant.startsWith('proxy-');
  const verdict = { meant, own };
  if (known.size < MOST_KNOWN && name.length <= LONGEST_KNOWN) known.set(name, verdict);
  return verdict;
}

/** Whether a header of a caller, by its lower-case name, is never forwarded: of the connection, ours, or about where callers are. */
export const isOwnHeader = (name: string): boolean => judged(name).own;

/** Not sent where values have to be found in answers, as in tests: none can be found in a slice of one. */
const PARTIAL = new Set(['range', 'if-range']);

/** Whether a header would have the upstream answer in a form in which values can't be found. */
export const hidesAnswer = ({ wholeAnswer, scrub }: Pick<Call, 'wholeAnswer' | 'scrub'>, name: string): boolean =>
  (wholeAnswer && PARTIAL.has(name)) || (scrub !== null && name === 'accept-encoding');

/**
 * The flat header list of the upstream request, in the caller's order, with the injected headers last. A browser knows no ports: where routes are mounted
 * under paths of the host that serves the dashboard, it sends the dashboard's cookies along, and an upstream would be signed in as the person.
 */
export function upstreamHeaders(call: Call, privateHeaders: ReadonlySet<string>): string[] {
  const { names, forwarding } = call;
  const raw = call.req.rawHeaders;
  const out: string[] = ['Host', call.upstream?.authority ?? ''];
  const nominated = nominatedBy(call.connection);
  const dropped = forwarding?.droppedHeaders;
  const drops = dropped !== undefined && dropped.size > 0;
  const dropsAmazon = forwarding?.dropsAmazon === true;
  const hides = call.wholeAnswer || call.scrub !== null;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const { meant, own } = judged(name);
    if (own || (drops && dropped.has(meant))) continue;
    if (dropsAmazon && meant.startsWith('x-amz-')) continue;
    if (hides && hidesAnswer(call, name)) continue;
    if (nominated?.has(name) || privateHeaders.has(meant)) continue;
    if ((name === 'authorization' && call.stripAuthorization) || (name === 'x-api-key' && call.stripApiKey)) continue;
    if (name === 'dpop' && call.stripProof) continue;
    if (meant === 'x-api-key' && meant !== name && holdsOurs(raw[i * 2 + 1] as string)) continue;
    const value = name === 'cookie' ? withoutDashboardCookies(raw[i * 2 + 1] as string) : (raw[i * 2 + 1] as string);
    if (value !== undefined) out.push(raw[i * 2] as string, value);
  }
  if (!call.traceparent) out.push('traceparent', traceparent(call.requestId));
  out.push('Via', `1.1 ${PSEUDONYM}`);
  if (forwarding?.forwardClientIp)
    out.push('X-Forwarded-For', call.sourceAddress, 'X-Forwarded-Proto', 'https', 'X-Forwarded-Host', call.host);
  const injected = call.injectedHeaders ?? [];
  for (let i = 0; i < injected.length; i += 2) {
    const name = injected[i] as string;
    if (!hides || !hidesAnswer(call, name.toLowerCase())) out.push(name, injected[i + 1] as string);
  }
  if (call.scrub !== null) out.push('Accept-Encoding', 'identity');
  // gRPC asks for it, and a server may refuse who doesn't say it.
  if (call.grpc !== null) out.push('TE', 'trailers');
  if (call.verified) out.push('X-Svc-Verified', 'true');
  return out;
}

/** Whether the caller or the route asks for part of an answer. */
export const asksForPart = ({ names, forwarding }: Call): boolean =>
  [...names, ...(forwarding?.droppedHeaders ?? [])].some((name) => PARTIAL.has(name));

/** Names an upstream's Connection header nominates, lower-case; null when there is none besides the usual. */
export function nominatedBy(connection: string | null | undefined): ReadonlySet<string> | null {
  if (!connection || connection === 'keep-alive' || connection === 'close') return null;
  return new Set(members(connection.toLowerCase()));
}

export const isHopByHop = (name: string): boolean => HOP_BY_HOP.has(name);

/** W3C trace context made of the request id, which is unique and mostly random: nothing new needs to be drawn. */
function traceparent(requestId: string): string {
  const end = requestId.slice(19, 23) + requestId.slice(24);
  return `00-${requestId.slice(0, 8)}${requestId.slice(9, 13)}${requestId.slice(14, 18)}${end}-${end}-01`;
}
