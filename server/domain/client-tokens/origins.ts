import { domainToUnicode } from 'node:url';

/** Hosts of a developer's own machine, which pages of Test may have, without TLS (interface rule 41 §11). */
const OWN_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1']);

/** Scheme, host and port, and nothing that a URL may have besides: no path, user, query, wildcard, bracket or escape. */
const ORIGIN = /^(https?):\/\/([^\s/?#@\\:*%[\]]{1,253})(?::([1-9][0-9]{0,4}))?$/i;
const HOST = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
/** What URL parsers take for an IPv4 address: the last label is a number. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * The origin as browsers send it: lower-case A-labels without the default port. Null for a text that differs from it in more than case, IDN form and the
 * default port, for addresses instead of names, and for plain HTTP but on a developer's own machine in Test.
 */
export function normalOrigin(text: string, sandbox: boolean): string | null {
  const [, scheme = '', host = ''] = ORIGIN.exec(text) ?? [];
  if (host === '' || !URL.canParse(text)) return null;
  const { origin, hostname } = new URL(text);
  const lower = host.toLowerCase();
  if (!HOST.test(hostname) || (lower !== hostname && lower !== domainToUnicode(hostname))) return null;
  if (scheme.toLowerCase() === 'http') return sandbox && OWN_MACHINE.has(hostname) ? origin : null;
  return ENDS_IN_NUMBER.test(hostname) ? null : origin;
}

/** Each once, sorted by bytes; null when one of them is no origin. */
export function normalOrigins(texts: readonly string[], sandbox: boolean): string[] | null {
  const origins = new Set<string>();
  for (const text of texts) {
    const origin = normalOrigin(text, sandbox);
    if (origin === null) return null;
    origins.add(origin);
  }
  // A-labels are ASCII, where the order of UTF-16 units is that of bytes.
  return [...origins].sort();
}
