import { grouped } from '#server/kernel/numbers.ts';
import { characterProblem, dotSegmentProblem, indexOfAny, isCanonicalHost, parseAuthority } from './strict-uri.shared.ts';

// Clients that are known by the address of a document about themselves (interface rule 21 §12, draft-ietf-oauth-client-id-metadata-document). Isomorphic.

export const MAX_CLIENT_URL_LENGTH = 512;
/** RFC 6761 §6.3, and names that are only found inside a network. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain)$/;

/** Whether a client ID is such an address, well formed or not: no ID of ours has a colon. */
export const isClientUrl = (clientId: string): boolean => /^https?:/i.test(clientId);

/** The host that vouches for such a client; null for all others. */
export const clientUrlHost = (clientId: string): string | null => (isClientUrl(clientId) ? (URL.parse(clientId)?.host ?? null) : null);

/**
 * Why an address can't be a client ID, as one sentence; null when it can. It is compared byte for byte, so only the spelling that a URL parser leaves as it is
 * counts: no dot segments, no default port, no upper-case host. An `@` in the path is none of a user name.
 */
export function clientUrlProblem(clientId: string): string | null {
  if (clientId.length > MAX_CLIENT_URL_LENGTH) return `The address is longer than ${grouped(MAX_CLIENT_URL_LENGTH)} characters.`;
  if (!/^https:\/\//i.test(clientId)) return 'The address must begin with https://.';
  const characters = characterProblem(clientId);
  if (characters) return characters;
  if (clientId.includes('#')) return 'The address must have no fragment.';
  if (clientId.includes('?')) return 'The address must have no query.';
  const end = indexOfAny(clientId, '/', SCHEME.length);
  const text = clientId.slice(SCHEME.length, end);
  if (text.includes('@')) return 'The address must have no user name or password.';
  const authority = parseAuthority(text);
  if (typeof authority === 'string') return authority;
  const { host, port } = authority;
  if (host.startsWith('[') || !isCanonicalHost(host) || isAddress(host) || !host.includes('.') || LOCAL_NAME.test(host))
    return 'The host of the address must be a public domain name.';
  if (!clientId.startsWith(SCHEME + host)) return 'The scheme and host of the address must be in lower case.';
  if (port === '443') return 'The address must leave out :443, the default port of https.';
  const path = clientId.slice(end);
  if (path === '' || path === '/') return 'The address must have a path.';
  if (/%2f/i.test(path)) return 'The path of the address must not contain an encoded slash.';
  return dotSegmentProblem(path) ?? (URL.parse(clientId)?.href === clientId ? null : OTHERWISE);
}

const SCHEME = 'https://';
const OTHERWISE = 'The address must be written the way browsers read it.';
/** Every spelling of an IPv4 address but the canonical one is refused before. */
const isAddress = (host: string): boolean => /^[\d.]+$/.test(host);

/** What every client of this kind may do: sign people in to MCP servers, and nothing else. */
export const URL_CLIENT = {
  type: 'public' as const,
  grant_types: ['authorization_code', 'refresh_token'],
  allowed_scopes: ['mcp:tools'],
  step_up_scopes: [] as string[],
  require_dpop: false,
  consent_html_template: null,
};
