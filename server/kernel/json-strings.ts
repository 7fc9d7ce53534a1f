// What readers of JSON texts share; browsers load it with every page, so it imports nothing.

/** Where the string of a JSON text ends whose first character is at `from`: the place of its closing quote, or -1. */
export function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1))
    if (!isEscaped(text, from, quote)) return quote;
  return -1;
}

/** Whether an odd number of backslashes stands before the quote; `from` is in its string, and within no escape. */
export function isEscaped(text: string, from: number, quote: number): boolean {
  let at = quote;
  while (at > from && text.charCodeAt(at - 1) === BACKSLASH) at--;
  return (quote - at) % 2 === 1;
}

/** A mark of up to 14 characters that nobody can have written: it has 64 random bits at each call. */
export const unguessable = (): string => Array.from(crypto.getRandomValues(new Uint32Array(2)), (bits) => bits.toString(36)).join('');

const BACKSLASH = 92;
