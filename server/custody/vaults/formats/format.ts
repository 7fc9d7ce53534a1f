/** How one token format reads a value and makes its tokens. Pure but for randomness: where tokens are kept is `tokenize.ts`. */
export type Format = {
  /**
   * The canonical spelling of a value: two spellings of one value are one value to `dedupe`. It is what is stored unless `asSent`.
   * @throws FormatMismatch, which names the rule and never the value
   */
  normalise(value: string): string;
  /** The value comes back exactly as it was sent. */
  asSent?: true;
  /** A random token for a normalised value. May equal the value or a token that exists: the caller tries again. */
  token(normalised: string): string;
  /** For formats whose tokens can run out: how many tokens a value has, and the nth of them. */
  space?: { size(normalised: string): number; nth(normalised: string, n: number): string };
  /** The end of the value that its tokens keep, such as the last four digits of a card number. */
  last4?(token: string): string;
  /** The value with all but a few characters hidden, for people who only have to recognise it. */
  masked(normalised: string): string;
};

/** The value doesn't have the vault's format. The message is a rule, such as "must have 13 to 19 digits". */
export class FormatMismatch extends Error {
  override readonly name = 'FormatMismatch';
}

/** Digits of an index, `width` long. */
export const padded = (n: number, width: number): string => String(n).padStart(width, '0');

/** Everything but the last `shown` characters as asterisks. */
export const maskedBut = (text: string, shown: number): string =>
  '*'.repeat(Math.max(0, text.length - shown)) + text.slice(Math.max(0, text.length - shown));
