import { containsCredential, redactCredentials, redactedMark } from '#server/kernel/credential-patterns.ts';
import { trimEnd } from '#server/kernel/trim-end.ts';

const MAX_PATH = 2048;

/**
 * The forward path and query as the caller sent them, with everything that looks like a credential masked (interface rule 13 §6.3): by its shape, also
 * under percent-encoding, and in the query by the name of its parameter. At most 2,048 characters.
 */
export function loggedPath(path: string, query: string | null): string {
  const shown = path.includes('%') ? path.split('/').map(withoutEncoded).join('/') : path;
  const text = query === null ? shown : `${shown}?${SUSPECT.test(query) ? query.split('&').map(shownPair).join('&') : query}`;
  return redactCredentials(maskCards(text)).slice(0, MAX_PATH);
}

/** Whether a query has to be looked at pair by pair; most have not. */
const SUSPECT = /[%+]|pass|pwd|secret|token|jwt|bearer|session|sid|key|auth|cred|sig|cvv|cvc|pin|ssn|otp/i;
/** Names of members that hold credentials, and what APIs call them in a query. Short ones count as a whole word only: `pin` is one, `pinned` is none. */
const NAMED =
  /(?:^|[^a-z])(?:pin|ssn|otp|sid|key|auth|sig)$|(?:password|passwd|passphrase|pwd|jwt|bearer|session(?:.?id)?|secret|token|api.?key|access.?key|private.?key|secret.?key|authorization|signature|credential|cvv|cvc)$/;

/** A pair of a query or of a form as it may be shown. */
export function shownPair(pair: string): string {
  const equals = pair.indexOf('=');
  if (equals < 0) return withoutEncoded(pair);
  const name = pair.slice(0, equals);
  const value = pair.slice(equals + 1);
  if (value === '') return withoutEncoded(pair);
  return `${withoutEncoded(name)}=${isNamed(name) ? redactedMark : withoutEncoded(value)}`;
}

/** `user[password]` and `API-Key` are named as `password` and `api_key` are. */
const isNamed = (name: string): boolean => NAMED.test(trimEnd(decoded(name).toLowerCase(), ']'));

/** A part of a URL that holds a credential once it is decoded is not shown at all: a mask inside it would have to guess at the spelling. */
function withoutEncoded(text: string): string {
  const plain = decoded(text);
  return plain !== text && (containsCredential(plain) || maskCards(plain) !== plain) ? redactedMark : text;
}

/** What a server would read; a malformed escape leaves the others readable. */
function decoded(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.split('+').join(' '));
  } catch {
    return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}

/** Digit runs that are card numbers by Luhn keep their first six and last four digits. */
export function maskCards(text: string): string {
  return /\d{13}/.test(text)
    ? text.replace(/\d{13,19}/g, (run) => (isCard(run) ? `${run.slice(0, 6)}${'*'.repeat(run.length - 10)}${run.slice(-4)}` : run))
    : text;
}

function isCard(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}
