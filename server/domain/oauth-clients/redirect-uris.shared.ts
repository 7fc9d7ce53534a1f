import { grouped } from '#server/kernel/numbers.ts';
import { characterProblem, dotSegmentProblem, indexOfAny, isCanonicalHost, parseAuthority } from './strict-uri.shared.ts';

// Redirect URIs (RFC 6749 3.1.2, RFC 8252): what a client may register, and which address an authorization request may ask for. Parsed strictly instead of with
// `URL`, which repairs what it reads (`\` to `/`, `%2e%2e` to `..`, `0x7f.1` to `127.0.0.1`): the repaired address isn't the one that was registered.

export type ClientType = 'confidential' | 'public';

export const MAX_REDIRECT_URIS = 20;
export const MAX_REDIRECT_URI_LENGTH = 2000;

const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];
const DANGEROUS_SCHEMES = ['javascript', 'vbscript', 'data', 'file', 'blob', 'about', 'ftp', 'ws', 'wss'];

type Parts = { scheme: string; host: string | null; port: string; rest: string };

/** Why a client of this type can't register the URI, as one sentence; null when it can. */
export function redirectUriProblem(uri: string, type: ClientType): string | null {
  const parts = parse(uri);
  return typeof parts === 'string' ? parts : problemForType(parts, type);
}

/** The stored form: scheme and host in lower case, no default port, `/` for an empty path, the rest byte for byte. Null for a URI that no client can register. */
export function canonicalRedirectUri(uri: string): string | null {
  const parts = parse(uri);
  return typeof parts === 'string' ? null : text(parts);
}

/** Whether an authorization request may ask for this address. On loopback the port is free (RFC 8252 7.3); everything else has to be equal byte for byte. */
export function matchesRedirectUri(registered: string, asked: string): boolean {
  const [ours, theirs] = [parse(registered), parse(asked)];
  if (typeof ours === 'string' || typeof theirs === 'string') return false;
  if (isLoopback(ours) && isLoopback(theirs)) return text({ ...ours, port: '' }) === text({ ...theirs, port: '' });
  return text(ours) === text(theirs);
}

/** Whether the address is a listener on the person's own machine, which any program there can be. */
export function isLoopbackRedirectUri(uri: string): boolean {
  const parts = parse(uri);
  return typeof parts !== 'string' && isLoopback(parts);
}

function problemForType(parts: Parts, type: ClientType): string | null {
  if (parts.scheme === 'https') return null;
  if (parts.scheme === 'http') {
    if (!isLoopback(parts)) return 'http is only for 127.0.0.1, [::1] and localhost. Use https.';
    return type === 'public' ? null : 'http on loopback is only for public clients. Use https.';
  }
  return type === 'public' ? null : 'A private-use scheme is only for public clients. Use https.';
}

/** The parts of a URI that some client may register, or the sentence that says why none may. */
function parse(uri: string): Parts | string {
  if (uri.length > MAX_REDIRECT_URI_LENGTH) return `The URI is longer than ${grouped(MAX_REDIRECT_URI_LENGTH)} characters.`;
  const problem = characterProblem(uri);
  if (problem) return problem;
  if (uri.includes('*')) return 'Wildcards are not allowed. Register each address.';
  if (uri.includes('#')) return 'A redirect URI has no fragment.';
  const colon = uri.indexOf(':');
  const scheme = uri.slice(0, Math.max(colon, 0)).toLowerCase();
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme)) return 'Write an absolute URI, for example https://app.example.com/callback.';
  if (DANGEROUS_SCHEMES.includes(scheme)) return `The scheme ${scheme} isn't allowed.`;
  const web = scheme === 'https' || scheme === 'http';
  if (!web && !scheme.includes('.'))
    return 'Use https, http on loopback, or a private-use scheme that contains a dot, for example com.example.app.';
  const after = uri.slice(colon + 1);
  if (!after.startsWith('//')) {
    if (web) return `Write ${scheme}:// before the host.`;
    if (after === '') return 'The URI has nothing after its scheme.';
    return dotSegmentProblem(after) ?? { scheme, host: null, port: '', rest: after };
  }
  const authorityEnd = indexOfAny(after, '/?', 2);
  const text = after.slice(2, authorityEnd);
  if (text.includes('@')) return 'A redirect URI has no user name or password.';
  const authority = parseAuthority(text);
  if (typeof authority === 'string') return authority;
  if (web && !isCanonicalHost(authority.host)) return `The host ${authority.host} isn't written the way browsers read it.`;
  const defaultPort = (scheme === 'https' && authority.port === '443') || (scheme === 'http' && authority.port === '80');
  const rest = after.slice(authorityEnd);
  return (
    dotSegmentProblem(rest) ?? {
      scheme,
      host: authority.host,
      port: defaultPort ? '' : authority.port,
      rest: rest.startsWith('/') ? rest : `/${rest}`,
    }
  );
}

function isLoopback(parts: Parts): boolean {
  return parts.scheme === 'http' && LOOPBACK_HOSTS.includes(parts.host ?? '');
}

function text(parts: Parts): string {
  if (parts.host === null) return `${parts.scheme}:${parts.rest}`;
  return `${parts.scheme}://${parts.host}${parts.port && `:${parts.port}`}${parts.rest}`;
}
