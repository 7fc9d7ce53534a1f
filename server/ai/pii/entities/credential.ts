import { findCredentials } from '#server/kernel/credential-patterns.ts';
import type { Entity, Range } from './entity.ts';
import { isExpression, isPlaceholder } from './lookalikes.ts';

/** Keys and tokens: always redacted, because no answer needs them and no provider should have them. */
export const credential: Entity = {
  entity: 'CREDENTIAL',
  title: 'Key, token or password',
  group: 'credential',
  about:
    'Keys and tokens of this service and of well-known providers, private keys, JWTs, `Authorization` values, and random values after words such as secret or password. Expressions of source code and placeholders, such as `settings.TOKEN` and `your-password`, are ignored.',
  example: 'AWS key AKIAIOSFODNN7EXAMPLQ',
  format: 'generic',
  confidence: 1,
  validated: true,
  find: credentials,
};

function credentials(text: string, from: number): Range[] {
  const found = findCredentials(text, from).filter(({ start, end }) => {
    if (text.startsWith('eyJ', start)) return hasJwtHeader(text.slice(start, end));
    return !text.startsWith('-----BEGIN', start) || KEY_TEXT.test(text.slice(start, start + KEY_SEEN));
  });
  return [...found, ...named(text, from)];
}

/** The first line is also in code that reads keys: of a key, base64 or a header follows on the next line, which may be written as an escape. */
const KEY_TEXT = /^-----BEGIN [A-Z0-9 ]{0,40}-----(?:\s|\\+[rn]){0,8}(?:[A-Za-z0-9+/=]{16}|[A-Za-z-]{2,20}: )/;
const KEY_SEEN = 128;

/** `eyJ…` is also how any base64 of JSON begins; the header of a token names its algorithm. */
function hasJwtHeader(token: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString());
    return typeof header === 'object' && header !== null && ('alg' in header || 'typ' in header);
  } catch {
    return false;
  }
}

/** Values that are named as a secret and look random: 3.5 bits a character or more. */
function named(text: string, from: number): Range[] {
  // Of a stream, the name may have left before its value arrives.
  const first = Math.max(0, from - LONGEST_NAME);
  if (!NAMES.some((name) => text.includes(name, first))) return [];
  const found: Range[] = [];
  NAMED.lastIndex = first;
  for (let match = NAMED.exec(text); match; match = NAMED.exec(text)) {
    const value = match[1] ?? '';
    const end = match.index + match[0].length;
    if (end - value.length >= from && entropy(value) >= 3.5 && !isPlaceholder(value) && !isExpression(text, end - value.length, end))
      found.push({ start: end - value.length, end });
    NAMED.lastIndex = Math.max(match.index + 1, end - value.length);
  }
  return found;
}

/** With what may stand between it and its value. */
const LONGEST_NAME = 48;
const NAMES = [
  'uthorization',
  'UTHORIZATION',
  'earer',
  'EARER',
  'ey',
  'EY',
  'ecret',
  'ECRET',
  'assw',
  'ASSW',
  'oken',
  'OKEN',
  'pwd',
  'PWD',
];
const NAMED =
  /(?:authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token|dpop)?|\bbearer(?=[\s:="'])|(?:api|access|secret|private|client|auth)[ _-]?(?:key|token|secret)["']?\s{0,3}[:=]|(?:secret|password|passwd|pwd|token)["']?\s{0,3}[:=])\s{0,3}["']?([A-Za-z0-9+/_.~=!@#$%^&*-]{12,500})/gi;

/** Shannon entropy of the characters, which are ASCII, in bits a character. */
export function entropy(text: string): number {
  COUNTS.fill(0);
  for (let i = 0; i < text.length; i++) (COUNTS[text.charCodeAt(i) & 127] as number)++;
  let bits = 0;
  for (const count of COUNTS) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const COUNTS = new Uint16Array(128);
