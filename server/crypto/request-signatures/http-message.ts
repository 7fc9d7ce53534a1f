import { hash, timingSafeEqual } from 'node:crypto';
import {
  type BareItem,
  type Dictionary,
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  serializeDictionary,
  serializeInnerList,
  serializeItem,
} from 'structured-headers';

// HTTP Message Signatures (RFC 9421) of requests: reading the fields, and the signature base. What a signature must cover is the caller's to judge.

/** The request as it came. Texts are bytes, one character each. */
export type HttpMessage = {
  method: string;
  scheme: 'http' | 'https';
  /** Host header. */
  host: string;
  /** Path and query as in the request line. */
  target: string;
  /** Values of the field lines of a name in lower case. */
  fields(name: string): readonly string[];
};

export type HttpSignature = {
  label: string;
  signature: Buffer;
  /** Serialized component identifiers, such as `"@query-param";name="a"`. */
  components: readonly string[];
  parameters: ReadonlyMap<string, BareItem>;
  readonly input: InnerList;
};

/**
 * Reads Signature-Input and Signature. With several signatures, the one labelled `preferred` is taken. Returns what is wrong instead of throwing.
 * A text that says something twice is refused: a member, component or parameter that comes again would be read differently by others.
 */
export function readHttpSignature(inputField: string, signatureField: string, preferred: string): HttpSignature | string {
  const inputs = dictionaryOf(inputField);
  const signatures = dictionaryOf(signatureField);
  if (!inputs) return 'Signature-Input is not a valid dictionary';
  if (!signatures) return 'Signature is not a valid dictionary';
  const label = inputs.size === 1 ? [...inputs.keys()][0] : preferred;
  const input = label === undefined ? undefined : inputs.get(label);
  if (label === undefined || !input)
    return inputs.size === 0 ? 'Signature-Input is empty' : `Signature-Input has several signatures, and none is labelled ${preferred}`;
  const member = signatures.get(label);
  if (!isInnerList(input)) return `${label} in Signature-Input is not an inner list`;
  if (!member || isInnerList(member) || !(member[0] instanceof ArrayBuffer)) return `${label} in Signature is not a byte sequence`;
  if (input[0].length > MAX_COMPONENTS) return `it covers more than ${MAX_COMPONENTS} components`;
  const components = input[0].map((item) => serializeItem(item));
  if (input[0].some(([name]) => typeof name !== 'string')) return 'a covered component is not a string';
  if (new Set(components).size !== components.length) return 'a component is covered twice';
  return { label, signature: Buffer.from(member[0]), components, parameters: input[1], input };
}

/** Each may need a look at a whole field or query, before anybody knows who calls. */
const MAX_COMPONENTS = 32;

/** The bytes that are signed (RFC 9421 §2.5), or what is wrong. */
export function signatureBase(message: HttpMessage, { input }: Pick<HttpSignature, 'input'>): Buffer | string {
  const lines: string[] = [];
  const read: Read = { dictionaries: new Map(), query: undefined };
  for (const item of input[0]) {
    const value = componentValue(message, item, read);
    if (value === undefined) return `the component ${serializeItem(item)} is missing or not supported`;
    lines.push(`${serializeItem(item)}: ${value}`);
  }
  lines.push(`"@signature-params": ${serializeInnerList(input)}`);
  return Buffer.from(lines.join('\n'), 'latin1');
}

/**
 * Whether Content-Digest (RFC 9530) is that of the body: at least one of sha-256 and sha-512 is there, and each that is there matches. Others are
 * not looked at.
 */
export function digestMatches(field: string, body: Uint8Array): boolean {
  const digests = dictionaryOf(field);
  if (!digests) return false;
  let known = 0;
  for (const [name, algorithm] of [
    ['sha-256', 'sha256'],
    ['sha-512', 'sha512'],
  ] as const) {
    const member = digests.get(name);
    if (member === undefined) continue;
    if (isInnerList(member) || !(member[0] instanceof ArrayBuffer)) return false;
    const given = new Uint8Array(member[0]);
    const actual = hash(algorithm, body, 'buffer');
    if (given.length !== actual.length || !timingSafeEqual(given, actual)) return false;
    known++;
  }
  return known > 0;
}

/** Strictly: what was read, written again, has every character of the text but optional white space. */
function dictionaryOf(text: string): Dictionary | undefined {
  try {
    const read = parseDictionary(text);
    return squeezed(serializeDictionary(read)) === squeezed(text) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Without white space outside of strings. */
function squeezed(text: string): string {
  let out = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (quoted && char === '\\') out += char + (text[++i] ?? '');
    else if (quoted || (char !== ' ' && char !== '\t')) out += char;
    if (char === '"') quoted = !quoted;
  }
  return out;
}

/** What several components may ask for is read once for all of them. */
type Read = { readonly dictionaries: Map<string, Dictionary | undefined>; query: ReadonlyMap<string, readonly string[]> | undefined };

function componentValue(message: HttpMessage, [name, parameters]: Item, read: Read): string | undefined {
  const text = name as string; // readHttpSignature has looked
  if (text.startsWith('@'))
    return text === '@query-param' ? queryParameter(message, parameters, read) : parameters.size > 0 ? undefined : derived(message, text);
  if (text !== text.toLowerCase()) return undefined;
  const values = message.fields(text).map((value) => value.trim());
  if (values.length === 0) return undefined;
  if (parameters.size === 0) return values.join(', ');
  if (parameters.size > 1) return undefined;
  if (parameters.get('bs') === true) return values.map((value) => `:${Buffer.from(value, 'latin1').toString('base64')}:`).join(', ');
  const key = parameters.get('key');
  if (typeof key !== 'string') return undefined;
  if (!read.dictionaries.has(text)) read.dictionaries.set(text, dictionaryOf(values.join(', ')));
  const member = read.dictionaries.get(text)?.get(key);
  return member && (isInnerList(member) ? serializeInnerList(member) : serializeItem(member));
}

function derived({ method, scheme, host, target }: HttpMessage, name: string): string | undefined {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  switch (name) {
    case '@method':
      return method;
    case '@authority':
      return authorityOf(host, scheme);
    case '@scheme':
      return scheme;
    case '@target-uri':
      return `${scheme}://${authorityOf(host, scheme)}${target}`;
    case '@request-target':
      return target;
    case '@path':
      return path || '/';
    case '@query':
      return mark < 0 ? '?' : target.slice(mark);
    default:
      return undefined;
  }
}

/** Lower case, without the scheme's default port (RFC 9421 §2.2.3). */
const authorityOf = (host: string, scheme: 'http' | 'https'): string =>
  host.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, '');

/** RFC 9421 §2.2.8. A parameter that occurs several times can't be covered. */
function queryParameter({ target }: HttpMessage, parameters: Item[1], read: Read): string | undefined {
  const name = parameters.get('name');
  if (parameters.size !== 1 || typeof name !== 'string') return undefined;
  const mark = target.indexOf('?');
  read.query ??= valuesByName(mark < 0 ? '' : target.slice(mark + 1));
  const found = read.query.get(name);
  return found?.length === 1 ? encoded(found[0] ?? '') : undefined;
}

function valuesByName(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(query)) {
    const name = encoded(key);
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return values;
}

/** The percent-encode set of application/x-www-form-urlencoded, with spaces as %20. */
const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
