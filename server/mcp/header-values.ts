// How the modern era writes values of a body into headers that proxies may read (Streamable HTTP of 2026-07-28, "Value Encoding").

const PREFIX = '=?base64?';
const SUFFIX = '?=';
const CANONICAL_BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** Printable ASCII; blanks only inside. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** The text that a header value stands for; undefined when its encoding is broken. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX)) return value;
  const encoded = value.slice(PREFIX.length, -SUFFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  if (!CANONICAL_BASE64.test(encoded) || bytes.toString('base64') !== encoded) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The header value for a text: as it is when it may stand in a header and can't be mistaken for an encoded one. */
export const encodeHeaderValue = (text: string): string =>
  PLAIN.test(text) && !text.startsWith(PREFIX) ? text : `${PREFIX}${Buffer.from(text, 'utf8').toString('base64')}${SUFFIX}`;
