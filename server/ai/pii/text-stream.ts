import { applied, editsOf, type Known, marks, type Rewriting } from './rewrite.ts';
import type { Span } from './span.ts';

/** Text that arrives in parts and leaves in parts. What is uncertain is held back, so that the result is the same however the text was cut. */
export type TextStream = {
  /** @throws BudgetExceeded, or HeldTooLong when a match doesn't end */
  push: (text: string) => string;
  /** What is still held back. */
  flush: () => string;
  /** What a stream elsewhere goes on from: it does as this one would. Plain data. */
  state: () => StreamState;
  /** Characters that are held back. */
  readonly held: number;
};

/** Of a stream of text or of JSON, or of several that run side by side. */
export type StreamState = TextState | JsonState | StreamState[];
export type TextState = { context: string; held: string; nextLook: number };
export type JsonState = {
  places: ('key' | 'value' | 'element')[];
  open: { stream: TextState | undefined; decoded: string; raw: string } | undefined;
  escapeText: string;
  bare: string;
  key: string;
  buffered: string;
};

/** More text would have to be held back than the service keeps of one answer. */
export class HeldTooLong extends Error {}

/**
 * One channel of an answer (interface rule 51 §7.5). Plain words leave at once. From a character on that may begin a match, text is held until `reach` more
 * characters have arrived: each match is judged together with all that could lengthen it, outweigh it or be its context. `before` is context that isn't part
 * of the answer; `buffers` holds everything.
 */
export function textStream(
  rewriting: Rewriting,
  { buffers = false, before = '', state }: { buffers?: boolean; before?: string; state?: TextState | undefined } = {},
): TextStream {
  const { policy, tokenizer } = rewriting;
  const reach = Math.max(policy?.reach ?? 0, LONGEST_TOKEN);
  const letsWordsPass = !policy?.recognizers.length && tokenizer.areMarked();
  /** What has left, as far as matches look back. */
  let context = state?.context ?? before.slice(-CONTEXT_KEPT);
  let held = state?.held ?? '';
  /** Held text is looked at when it's this long. */
  let nextLook = state?.nextLook ?? reach + STEP;

  const release = (length: number): void => {
    context = (context + held.slice(0, length)).slice(-CONTEXT_KEPT);
    held = held.slice(length);
  };
  const settle = (final: boolean): string => {
    const text = context + held;
    const from = context.length;
    const found = marks(text, from, rewriting);
    const until = final ? text.length : certainUntil(text, reach, found);
    let result = '';
    if (until > from) {
      const certain = found.filter(({ end }) => end <= until);
      result = applied(text, from, until, editsOf(text, certain, rewriting), rewriting.counts);
      release(until - from);
    }
    // A match that goes on and on is looked at less and less often, so that the time stays linear.
    nextLook = Math.max(reach + STEP, Math.ceil(held.length * 1.5));
    return result;
  };

  return {
    push(added) {
      held += added;
      if (held.length > MOST_HELD) throw new HeldTooLong('Too much text was held back.');
      if (buffers) return '';
      let passed = '';
      if (letsWordsPass && held.length < nextLook + added.length) {
        passed = held.slice(0, plainUntil(held));
        release(passed.length);
      }
      return held.length >= nextLook ? passed + settle(false) : passed;
    },
    flush() {
      const result = held === '' ? '' : settle(true);
      context = before.slice(-CONTEXT_KEPT);
      return result;
    },
    state: () => ({ context, held, nextLook }),
    get held() {
      return held.length;
    },
  };
}

/** Where the text stops being certain: nothing that begins before it can still change, and no match or long word crosses it. */
function certainUntil(text: string, reach: number, found: readonly (Span | Known)[]): number {
  let until = Math.min(text.length - reach, wordAtEnd(text));
  // The last to begin comes first: what moves the border is crossed only by those that begin before it.
  for (const { start, end } of [...found].sort((a, b) => b.start - a.start)) if (start < until && end > until) until = start;
  return until > 0 && isHighSurrogate(text.charCodeAt(until - 1)) ? until - 1 : until;
}

/** Where the word at the end begins: keys, tokens and addresses have no spaces and no other limit. */
function wordAtEnd(text: string): number {
  let at = text.length;
  while (at > 0 && text.length - at < LONGEST_WORD && isWordCode(text.charCodeAt(at - 1))) at--;
  return text.length - at < LONGEST_WORD ? at : text.length;
}

/** How much of the beginning is words that no built-in match can begin with. The last word stays, and a short one before it: `AB 12 34 56 C`. */
function plainUntil(text: string): number {
  const suspect = text.search(SUSPECT);
  const head = suspect === -1 ? text : text.slice(0, suspect);
  let word = head.length;
  while (word > 0 && !/\s/.test(head[word - 1] as string)) word--;
  return SHORT_WORD.exec(head.slice(0, word))?.index ?? word;
}

/** Digits and marks of addresses, names of months, and words too long to be words. */
const SUSPECT = /[0-9@:+_=\u00a0-]|[A-Za-z]{16}|(?<![A-Za-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;
const SHORT_WORD = /(?<![A-Za-z])[A-Za-z]{1,3} $/;

/** ASCII from `!` to `~`. */
const isWordCode = (code: number): boolean => code > 32 && code < 127;
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;

const LONGEST_TOKEN = 64;
const CONTEXT_KEPT = 128;
/** So many more characters make another look worth its time. */
const STEP = 32;
export const MOST_HELD = 1024 * 1024;
const LONGEST_WORD = 8 * 1024;
