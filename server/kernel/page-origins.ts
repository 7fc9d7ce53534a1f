import { domainToUnicode } from 'node:url';

// Origins of web pages, as a browser writes them into the Origin header (interface rule 41 §11).

export type OriginVerdict = { ok: true; value: string } | { ok: false; problem: string };

/** Scheme, host and port, and nothing that a URL may have besides: no path, user, query, wildcard or escape. */
const ORIGIN = /^([a-z]+):\/\/([^\s/?#@\\:*%[\]]{1,253}|\[[^\]]*\])(?::([1-9][0-9]{0,4}))?$/i;
/** These go into headers and documents: a name of letters, digits and hyphens can't end anything there. */
const NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
/** What URL parsers take for an IPv4 address: the last label is a number. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;
/** Hosts of a developer's own machine, which pages of Test may have, without TLS. */
const OWN_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1']);

/**
 * `https://host[:port]` in the one spelling that browsers send: lower case, A-labels, no default port. Test also takes localhost and 127.0.0.1 over
 * http, for development. Anything else beside the host is refused rather than dropped, since whoever wrote it meant something by it.
 */
export function canonicalOrigin(given: string, sandbox: boolean): OriginVerdict {
  const [, scheme, host = '', port] = ORIGIN.exec(given) ?? [];
  if (scheme === undefined) return refuse(SHAPE);
  if (Number(port ?? 0) > 65_535) return refuse('has a port above 65535');
  if (!URL.canParse(given)) return refuse('is not the address of a web page');
  const { hostname, origin, protocol } = new URL(given);
  const local = protocol === 'http:' && OWN_MACHINE.has(hostname);
  if (protocol !== 'https:' && !(local && sandbox))
    return refuse(local ? 'can only be a local address in the Test space' : 'must begin with https://');
  if (!local && (hostname.startsWith('[') || ENDS_IN_NUMBER.test(hostname))) return refuse(IP);
  // The parser reads 127.1 as an address and full-width letters as plain ones: what was written must be that name, or its IDN form.
  const written = host.toLowerCase();
  if (!NAME.test(hostname) || (written !== hostname && written !== domainToUnicode(hostname))) return refuse(SHAPE);
  return { ok: true, value: origin };
}

/** Each origin once, sorted by bytes; the problem of the first that is none, with its place from 1. */
export function canonicalOrigins(
  given: readonly string[],
  sandbox: boolean,
): { ok: true; value: string[] } | { ok: false; problem: string } {
  const origins = new Set<string>();
  for (const [at, text] of given.entries()) {
    const verdict = canonicalOrigin(text, sandbox);
    if (!verdict.ok) return refuse(`entry ${at + 1} ${verdict.problem}`);
    origins.add(verdict.value);
  }
  // A-labels are ASCII, where the order of UTF-16 units is that of bytes.
  return { ok: true, value: [...origins].sort() };
}

const refuse = (problem: string): { ok: false; problem: string } => ({ ok: false, problem });
const SHAPE = 'must be https://host or https://host:port, without a path, a trailing slash, a user name or a wildcard';
const IP = 'must name a host: IP addresses are not accepted';
