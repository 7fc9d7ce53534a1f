// The strict reading of addresses that are compared as text: redirect URIs and client IDs. `URL` repairs what it reads, so two texts would mean one address.

/** Why no URI may be spelled like this, as one sentence. */
export function characterProblem(uri: string): string | null {
  for (const character of uri) {
    const code = character.codePointAt(0) as number;
    if (code <= 0x20 || code === 0x7f) return 'The URI contains a space or a control character.';
    if (code > 0x7f)
      return 'The URI contains characters outside of ASCII. Write an international host in punycode and percent-encode the rest.';
  }
  if (uri.includes('\\')) return 'The URI contains a backslash.';
  if (/["<>^`{|}]/.test(uri)) return 'The URI contains a character that has to be percent-encoded.';
  if (/%(?![0-9a-fA-F]{2})/.test(uri)) return 'A % has to be followed by two hexadecimal digits.';
  return /%(?:[01][0-9a-f]|7f|5c)/i.test(uri) ? 'The URI contains an encoded control character or backslash.' : null;
}

/** `%2e` and `%2f` count: browsers resolve the first, many servers decode the second. */
export function dotSegmentProblem(rest: string): string | null {
  const path = rest.split('?', 1)[0] as string;
  const segments = path.split(/\/|%2f/i).map((segment) => segment.replaceAll(/%2e/gi, '.'));
  return segments.includes('..') || segments.includes('.') ? 'The path contains a "." or ".." segment.' : null;
}

/** Host, in lower case, and port of an authority without user information; or the sentence that says what is wrong with it. */
export function parseAuthority(authority: string): { host: string; port: string } | string {
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

/** `2130706433`, `0x7f.1` and `[0:0:0:0:0:0:0:1]` are other spellings of a loopback address. */
export function isCanonicalHost(host: string): boolean {
  try {
    return new URL(`https://${host}/`).hostname === host;
  } catch {
    return false;
  }
}

export function indexOfAny(value: string, characters: string, from: number): number {
  for (let index = from; index < value.length; index++) if (characters.includes(value[index] as string)) return index;
  return value.length;
}
