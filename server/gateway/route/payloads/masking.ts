import { trimEnd } from '#server/kernel/trim-end.ts';
import { shownPair } from '../../core/log/logged-path.ts';

// Fields whose names say that they hold a credential (interface rule 13 §6.3). Bodies are often cut off, so they are read as text and not parsed.

const MASK = '[redacted]';
/** Short names count as a whole word only: `pin` is one, `pinned` is none. */
const NAMED =
  /(?:^|[^a-z])(?:pin|ssn|otp)$|(?:password|passwd|passphrase|pwd|secret|token|api.?key|access.?key|private.?key|secret.?key|authorization|signature|credential|bearer|jwt|cvv|cvc)$/;
const isNamed = (name: string): boolean => NAMED.test(name.toLowerCase());

/** The body of a media type with the values of such fields masked. */
export function maskFields(text: string, contentType: string): string {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return text.split('&').map(shownPair).join('&');
  const boundary = boundaryOf(contentType);
  return maskMembers(boundary === undefined ? text : maskParts(text, boundary));
}

function boundaryOf(contentType: string): string | undefined {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim());
  if (!type.toLowerCase().startsWith('multipart/')) return undefined;
  const found = parameters.find((parameter) => parameter.toLowerCase().startsWith('boundary='));
  return found?.slice('boundary='.length).replaceAll('"', '') || undefined;
}

function maskParts(text: string, boundary: string): string {
  const delimiter = `--${boundary}`;
  return text
    .split(delimiter)
    .map((part) => {
      const body = part.indexOf('\r\n\r\n');
      const name = body < 0 ? undefined : /;[ \t]*name="?([^";\r\n]{1,200})/i.exec(part.slice(0, Math.min(body, 2_000)))?.[1];
      return name !== undefined && isNamed(name) ? `${part.slice(0, body)}\r\n\r\n${MASK}\r\n` : part;
    })
    .join(delimiter);
}

/**
 * Masks members of JSON by their names, wherever JSON stands in the text: whole, cut off, one a line, behind `data:`, or written as a string inside
 * other JSON. Every quote is tried as the beginning of a name, so no text around it can hide one. Linear in the length of the text.
 */
export function maskMembers(text: string): string {
  let out = '';
  let copied = 0;
  for (let at = text.indexOf('"'); at >= 0; ) {
    const depth = escapesBefore(text, at);
    const end = text.indexOf('"', at + 1);
    if (end < 0) break;
    const colon = afterBlanks(text, end + 1);
    if (text[colon] !== ':' || end - at > LONGEST_NAME || !isNamed(plainName(text.slice(at + 1, end)))) {
      at = end;
      continue;
    }
    const from = afterBlanks(text, colon + 1);
    const to = valueEnd(text, from);
    const quote = `${'\\'.repeat(depth)}"`;
    out += `${text.slice(copied, from)}${quote}${MASK}${quote}`;
    copied = to;
    at = text.indexOf('"', to);
  }
  return copied === 0 ? text : out + text.slice(copied);
}

const LONGEST_NAME = 200;

/** Backslashes right before a quote: none in JSON, one in JSON that is a string of other JSON, three in what is a string of that. */
function escapesBefore(text: string, quote: number): number {
  let n = 0;
  while (n < MOST_ESCAPES && text[quote - 1 - n] === '\\') n++;
  return n;
}
const MOST_ESCAPES = 15;

function afterBlanks(text: string, at: number): number {
  let i = at;
  while (i < text.length && BLANK.has(text[i] as string)) i++;
  return i;
}
const BLANK = new Set([' ', '\t', '\n', '\r']);

/** `pass\u0077ord` is a spelling of `password`. */
function plainName(written: string): string {
  const name = trimEnd(written, '\\');
  return name.includes('\\u')
    ? name.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : name;
}

/** Where a value ends that begins at `from`: a string with its quotes, an object or list whole, anything else before what separates members. */
function valueEnd(text: string, from: number): number {
  let first = from;
  while (text[first] === '\\') first++;
  if (text[first] === '"') return stringEnd(text, first + 1, first - from);
  if (text[from] === '{' || text[from] === '[') return nestedEnd(text, from);
  let i = from;
  while (i < text.length && !',}]\n\r&'.includes(text[i] as string)) i++;
  return i;
}

/** Behind the quote that ends a string which began behind as many escapes. */
function stringEnd(text: string, from: number, depth: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    const escapes = escapesBefore(text, quote);
    // An even number before it are escaped backslashes at the end of the string.
    if (escapes <= depth || (depth === 0 && escapes % 2 === 0)) return quote + 1;
  }
  return text.length;
}

function nestedEnd(text: string, from: number): number {
  let open = 0;
  for (let i = from; i < text.length; i++) {
    const c = text[i];
    if (c === '"') i = stringEnd(text, i + 1, escapesBefore(text, i)) - 1;
    else if (c === '{' || c === '[') open++;
    else if ((c === '}' || c === ']') && --open === 0) return i + 1;
  }
  return text.length;
}
