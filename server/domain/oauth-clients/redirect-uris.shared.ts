import { grouped } from '#server/kernel/numbers.ts';
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
  const problem = problemOfText(uri);
  if (problem) return problem;
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
    return problemOfPath(after) ?? { scheme, host: null, port: '', rest: after };
  }
  const authorityEnd = indexOfAny(after, '/?', 2);
  const authority = parseAuthority(after.slice(2, authorityEnd));
  if (typeof authority === 'string') return authority;
  if (web && !isCanonicalHost(authority.host)) return `The host ${authority.host} isn't written the way browsers read it.`;
  const defaultPort = (scheme === 'https' && authority.port === '443') || (scheme === 'http' && authority.port === '80');
  const rest = after.slice(authorityEnd);
  return (
    problemOfPath(rest) ?? {
      scheme,
      host: authority.host,
      port: defaultPort ? '' : authority.port,
      rest: rest.startsWith('/') ? rest : `/${rest}`,
    }
  );
}

function problemOfText(uri: string): string | null {
  for (const character of uri) {
    const code = character.codePointAt(0) as number;
    if (code <= 0x20 || code === 0x7f) return 'The URI contains a space or a control character.';
    if (code > 0x7f)
      return 'The URI contains characters outside of ASCII. Write an international host in punycode and percent-encode the rest.';
  }
  if (uri.includes('\\')) return 'The URI contains a backslash.';
  if (uri.includes('*')) return 'Wildcards are not allowed. Register each address.';
  if (uri.includes('#')) return 'A redirect URI has no fragment.';
  if (/["<>^`{|}]/.test(uri)) return 'The URI contains a character that has to be percent-encoded.';
  if (/%(?![0-9a-fA-F]{2})/.test(uri)) return 'A % has to be followed by two hexadecimal digits.';
  return /%(?:[01][0-9a-f]|7f|5c)/i.test(uri) ? 'The URI contains an encoded control character or backslash.' : null;
}

// `%2e` and `%2f` count: browsers resolve the first, many servers decode the second.
function problemOfPath(rest: string): string | null {
  const path = rest.split('?', 1)[0] as string;
  const segments = path.split(/\/|%2f/i).map((segment) => segment.replaceAll(/%2e/gi, '.'));
  return segments.includes('..') || segments.includes('.') ? 'The path contains a "." or ".." segment.' : null;
}

function parseAuthority(authority: string): { host: string; port: string } | string {
  if (authority.includes('@')) return 'A redirect URI has no user name or password.';
  const portStart = authority.indexOf(':', authority.startsWith('[') ? Math.max(authority.indexOf(']'), 0) : 0);
  const host = (portStart < 0 ? authority : authority.slice(0, portStart)).toLowerCase();
  const port = portStart < 0 ? '' : authority.slice(portStart + 1);
  if (host === '') return 'The URI has no host.';
  if (portStart >= 0 && !(/^[1-9][0-9]{0,4}$/.test(port) && Number(port) <= 65_535))
    return 'The port must be a number between 1 and 65535.';
  if (!/^\[[0-9a-f:.]+\]$/.test(host) && !isHostName(host)) return `${host} isn't a valid host name.`;
  return { host, port };
}

// A trailing dot names the same host with another text, so it would be compared as another one.
function isHostName(host: string): boolean {
  return host.length <= 253 && host.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}

// `2130706433`, `0x7f.1` and `[0:0:0:0:0:0:0:1]` are other spellings of a loopback address.
function isCanonicalHost(host: string): boolean {
  try {
    return new URL(`https://${host}/`).hostname === host;
  } catch {
    return false;
  }
}

function isLoopback(parts: Parts): boolean {
  return parts.scheme === 'http' && LOOPBACK_HOSTS.includes(parts.host ?? '');
}

function text(parts: Parts): string {
  if (parts.host === null) return `${parts.scheme}:${parts.rest}`;
  return `${parts.scheme}://${parts.host}${parts.port && `:${parts.port}`}${parts.rest}`;
}

function indexOfAny(value: string, characters: string, from: number): number {
  for (let index = from; index < value.length; index++) if (characters.includes(value[index] as string)) return index;
  return value.length;
}
