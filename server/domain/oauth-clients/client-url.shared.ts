import { grouped } from '#server/kernel/numbers.ts';

// Clients that are known by the address of a document about themselves (interface rule 21 §12, draft-ietf-oauth-client-id-metadata-document). Isomorphic.

export const MAX_CLIENT_URL_LENGTH = 512;
/** RFC 6761 §6.3, and names that are only found inside a network; a trailing dot is the same name. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain)\.?$|^[^.]+\.$/;

/** Whether a client ID is such an address, well formed or not: no ID of ours has a colon. */
export const isClientUrl = (clientId: string): boolean => /^https?:/i.test(clientId);

/** The host that vouches for such a client; null for all others. */
export const clientUrlHost = (clientId: string): string | null => (isClientUrl(clientId) ? (URL.parse(clientId)?.host ?? null) : null);

/**
 * Why an address can't be a client ID, as one sentence; null when it can. It is compared byte for byte, so only the spelling that a URL parser leaves as it is
 * counts: no dot segments, no default port, no upper-case host.
 */
export function clientUrlProblem(clientId: string): string | null {
  if (clientId.length > MAX_CLIENT_URL_LENGTH) return `The address is longer than ${grouped(MAX_CLIENT_URL_LENGTH)} characters.`;
  const url = URL.parse(clientId);
  if (!url || url.protocol !== 'https:') return 'The address must begin with https://.';
  if (clientId.includes('#')) return 'The address must have no fragment.';
  if (clientId.includes('?')) return 'The address must have no query.';
  if (url.username !== '' || url.password !== '' || clientId.includes('@')) return 'The address must have no user name or password.';
  if (url.pathname === '/') return 'The address must have a path.';
  if (url.hostname.startsWith('[') || /^[\d.]+$/.test(url.hostname) || !url.hostname.includes('.') || LOCAL_NAME.test(url.hostname))
    return 'The host of the address must be a public domain name.';
  if (url.href !== clientId || /%2e|%2f|%5c/i.test(url.pathname))
    return 'The address must be written the way browsers read it, without dot segments or a default port.';
  return null;
}

/** What every client of this kind may do: sign people in to MCP servers, and nothing else. */
export const URL_CLIENT = {
  type: 'public' as const,
  grant_types: ['authorization_code', 'refresh_token'],
  allowed_scopes: ['mcp:tools'],
  step_up_scopes: [] as string[],
  require_dpop: false,
  consent_html_template: null,
};
