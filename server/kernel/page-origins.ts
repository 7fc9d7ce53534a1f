// Origins of web pages, as a browser writes them into the Origin header (interface rule 41 §11).

export type OriginVerdict = { ok: true; value: string } | { ok: false; problem: string };

/**
 * `https://host[:port]` in the one spelling that browsers send: lower case, A-labels, no default port. Test also takes localhost and 127.0.0.1 over
 * http, for development. Anything else beside the host is refused rather than dropped, since whoever wrote it meant something by it.
 */
export function canonicalOrigin(given: string, sandbox: boolean): OriginVerdict {
  const refuse = (problem: string): OriginVerdict => ({ ok: false, problem });
  const [, scheme, host = '', port] = /^([a-z]+):\/\/([^/?#@\\:%*\s\u0000-\u0020]+|\[[^\]]*\])(?::([1-9]\d{0,4}))?$/i.exec(given) ?? [];
  if (scheme === undefined) return refuse(SHAPE);
  if (!URL.canParse(given)) return refuse('is not the address of a web page');
  const url = new URL(given);
  const name = url.hostname;
  const local = url.protocol === 'http:' && (name === 'localhost' || name === '127.0.0.1');
  // The parser reads 0x7f.1 as an address; what it made of an ASCII name must be that name.
  if (/^[\x21-\x7e]+$/.test(host) && host.toLowerCase() !== name) return refuse(IP);
  // These go into headers and documents: a name of letters, digits and hyphens can't end anything there.
  if (!name.startsWith('[') && !/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name)) return refuse(SHAPE);
  if (url.protocol !== 'https:' && !(local && sandbox))
    return refuse(local ? 'can only be a local address in the Test space' : 'must begin with https://');
  if (url.protocol === 'https:' && isAddress(name)) return refuse(IP);
  if (port !== undefined && Number(port) > 65_535) return refuse('has a port above 65535');
  return { ok: true, value: url.origin };
}

const SHAPE = 'must be https://host or https://host:port, without a path, a trailing slash, a user name or a wildcard';
const IP = 'must name a host: IP addresses are not accepted';
const isAddress = (name: string): boolean => name.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(name);
