import { getPublicSuffix } from 'tldts';
import { parseAddress } from './address.ts';

// Rules for absolute upstream URLs that a caller gives (interface rule 33 §4): what is judged here needs no DNS. Addresses are judged by
// server/platform/http-out at every connection.

export type UpstreamUrl = {
  /** Lower-case ASCII without a trailing dot. */
  readonly host: string;
  readonly port: number;
  /** The Host header: a port other than 443 included. */
  readonly authority: string;
  /** Byte for byte as written; `/` when absent. */
  readonly path: string;
  /** Without `?`; null when there is none. */
  readonly query: string | null;
};

export type UpstreamUrlCode = 'validation_error' | 'upstream_not_allowed' | 'raw_card_endpoint_refused';
export type UpstreamUrlVerdict =
  | { readonly ok: true; readonly url: UpstreamUrl }
  /** `message` continues a field name: `url: must be …`. */
  | { readonly ok: false; readonly code: UpstreamUrlCode; readonly message: string };

export type UpstreamUrlRules = {
  /** Names of this service, as `EgressSettings.ownHosts` has them: each covers its subdomains. */
  readonly ownHosts: readonly { readonly name: string; readonly port: number | undefined }[];
  /** Whether the operator opened a port other than 443 for this host (test hosts, the private allowlist). None without it. */
  readonly opensPort?: ((host: string, port: number) => boolean) | undefined;
  /** The query may hold `{{ … }}` placeholders, with spaces and quotes inside. */
  readonly placeholders?: boolean | undefined;
};

export const LONGEST_UPSTREAM_URL = 8_192;

/** Judges an absolute upstream URL: https, a public DNS name, port 443, no credentials, no fragment. Never throws. */
export function parseUpstreamUrl(text: string, rules: UpstreamUrlRules): UpstreamUrlVerdict {
  if (text.length === 0 || text.length > LONGEST_UPSTREAM_URL) return invalid(`must have 1 to ${LONGEST_UPSTREAM_URL} characters`);
  if (/[^\x20-\x7e]/.test(text))
    return invalid('must be ASCII; use the xn-- form for internationalized names and percent-encoding in the path');
  const [, scheme, authority = '', path = '', query] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]*)([^?#]*)(?:\?([^#]*))?(?=#|$)/i.exec(text) ?? [];
  if (scheme === undefined) return invalid('must be an absolute URL such as https://api.example.com/v1/items');
  if (scheme.toLowerCase() !== 'https') return invalid('must use https');
  if (text.includes('#')) return invalid('must not contain a fragment');
  if (authority.includes('@')) return invalid('must not contain a user name or password');
  if (/[ "<>\\^`{|}]/.test(path)) return invalid('must not contain spaces, quotes, braces or backslashes in its path');
  if (query !== undefined && / |"|<|>/.test(rules.placeholders ? query.replace(PLACEHOLDER, '') : query))
    return invalid('must not contain spaces or quotes in its query; percent-encode them');
  const [, name = '', digits] = /^([^:]*|\[[^\]]*\])(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const host = upstreamHost(name);
  if (host === undefined) return invalid('must have a public DNS name as its host, such as api.example.com, and no IP address');
  const port = digits === undefined ? 443 : Number(digits);
  if (port !== 443 && !(port >= 1 && port <= 65_535 && rules.opensPort?.(host, port))) return invalid('must use port 443');
  if (isOwnHost(host, port, rules.ownHosts))
    return { ok: false, code: 'upstream_not_allowed', message: `must not call this service itself: ${host} belongs to it` };
  const url: UpstreamUrl = { host, port, authority: port === 443 ? host : `${host}:${port}`, path: path || '/', query: query ?? null };
  if (isRawCardEndpoint(host, url.path))
    return {
      ok: false,
      code: 'raw_card_endpoint_refused',
      message: `must not be an endpoint that takes raw card numbers: call ${host} directly from the page that collects the card`,
    };
  return { ok: true, url };
}

/** Neither may swallow the end of another placeholder. */
const PLACEHOLDER = /\{\{[^{}]{0,700}\}\}/g;

const invalid = (message: string): UpstreamUrlVerdict => ({ ok: false, code: 'validation_error', message });

/**
 * The host of an upstream: a DNS name of at least two labels that isn't a bare public suffix, spelled as the URL standard spells it. A trailing dot is
 * dropped. Undefined for anything else: addresses in any notation, names that another parser could read as another host.
 */
export function upstreamHost(text: string): string | undefined {
  const host = canonicalHost(text);
  const spelled = text.toLowerCase().replace(/\.$/, '');
  if (host === undefined || host !== spelled || !host.includes('.')) return undefined;
  // Of the private section only wildcards are refused elsewhere: s3.amazonaws.com is such a suffix, and an API.
  return getPublicSuffix(host, { allowPrivateDomains: false }) === host ? undefined : host;
}

/** Lower case, no trailing dot, IDNA in ASCII; undefined for addresses and everything that is not a host name alone. */
export function canonicalHost(text: string): string | undefined {
  if (text.length > 300 || /[\s:/\\?#@[\]%*<>^|]/.test(text)) return undefined;
  const ascii = URL.parse(`https://${text}/`)?.hostname.replace(/\.$/, '');
  // The URL parser turns every number form of IPv4 into an address.
  if (!ascii || ascii.length > 253 || parseAddress(ascii)) return undefined;
  return ascii.split('.').every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label)) ? ascii : undefined;
}

/** Whether a host is one of the service's own, or below one. */
export function isOwnHost(host: string, port: number, own: UpstreamUrlRules['ownHosts']): boolean {
  return own.some(({ name, port: only }) => (only === undefined || only === port) && (host === name || host.endsWith(`.${name}`)));
}

/** Endpoints that would bring card numbers into this service (interface rule 33 §4.4). `host` is canonical; `path` may be followed by a query. */
export function isRawCardEndpoint(host: string, path: string): boolean {
  return host === 'api.stripe.com' && RAW_CARD_PATHS.test(comparablePath(path));
}

const RAW_CARD_PATHS = /^\/v1\/(?:tokens|sources)/;

/**
 * How a server may read a path: percent-decoded, dot segments removed, slashes merged, in lower case. Decodes more than the unreserved characters, since
 * nobody can tell how the other side reads the rest.
 */
function comparablePath(path: string): string {
  const [plain = ''] = path.split('?', 1);
  const decoded = plain
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('\\', '/');
  const kept: string[] = [];
  for (const segment of decoded.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`.toLowerCase();
}
