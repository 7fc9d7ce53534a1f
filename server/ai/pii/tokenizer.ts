import type { ConversationKey } from '#server/crypto/pii-keys.ts';
import { folded } from '../patterns/word-list.ts';
import type { TokenFormat } from './span.ts';
import { normalized, type TokenEntry, tokenFor } from './tokens.ts';

/** Where a known token is in a text, and the value it stands for. */
export type KnownToken = { start: number; end: number; value: string };

/** The values and tokens of one call or conversation. */
export type Tokenizer = {
  /** The token of a value; the same for equal values. */
  tokenOf: (entity: string, format: TokenFormat, value: string) => string;
  /** Known tokens that begin at `from` or later, also in other letter case and without the `+` of a phone number. */
  find: (text: string, from?: number) => KnownToken[];
  /** Whether a value was tokenized before: the caller sent it. */
  knows: (entity: string, format: TokenFormat, value: string) => boolean;
  /** Whether every token has a digit, a dash or an underscore, which plain words don't have. */
  areMarked: () => boolean;
  /** What is kept when the provider keeps state. */
  entries: () => TokenEntry[];
  readonly size: number;
};

/** A tokenizer of one conversation; `kept` are entries of earlier calls. */
export function createTokenizer(conversation: ConversationKey, kept: readonly TokenEntry[] = []): Tokenizer {
  const byToken = new Map<string, TokenEntry>();
  const byValue = new Map<string, TokenEntry>();
  let marked = true;
  const remember = (entry: TokenEntry, key: string) => {
    byToken.set(folded(entry.token), entry);
    byValue.set(key, entry);
    marked &&= /[0-9_-]/.test(entry.token);
  };
  for (const entry of kept) remember(entry, `${entry.entity}\0${entry.value}`);
  const keyOf = (entity: string, format: TokenFormat, value: string) => `${entity}\0${normalized(format, value)}`;
  const known = (entity: string, format: TokenFormat, value: string) =>
    byValue.get(keyOf(entity, format, value)) ?? byValue.get(`${entity}\0${value}`);

  return {
    tokenOf(entity, format, value) {
      const before = known(entity, format, value);
      if (before) return before.token;
      let token = tokenFor(conversation, entity, format, value);
      // FF1 has no counter: a collision there is answered in the generic form.
      for (let counter = 1; byToken.has(folded(token)) && counter < 256; counter++)
        token = tokenFor(conversation, entity, format === 'fpe' ? 'generic' : format, value, counter);
      remember({ token, value, entity }, keyOf(entity, format, value));
      return token;
    },
    find: (text, from = 0) => (byToken.size === 0 ? [] : findTokens(byToken, text, from)),
    knows: (entity, format, value) => known(entity, format, value) !== undefined,
    areMarked: () => marked,
    entries: () => [...byToken.values()],
    get size() {
      return byToken.size;
    },
  };
}

function findTokens(byToken: ReadonlyMap<string, TokenEntry>, text: string, from: number): KnownToken[] {
  const lower = folded(text);
  const found: KnownToken[] = [];
  for (const [token, { value }] of byToken) {
    const bare = token.startsWith('+') ? token.slice(1) : token;
    for (let at = lower.indexOf(bare, from); at !== -1; at = lower.indexOf(bare, at + bare.length)) {
      const start = bare !== token && at > from && lower[at - 1] === '+' ? at - 1 : at;
      if (!joins(lower, start - 1, start) && !joins(lower, at + bare.length - 1, at + bare.length))
        found.push({ start, end: at + bare.length, value });
    }
  }
  return found.sort((a, b) => a.start - b.start || b.end - a.end).filter((one, i, all) => i === 0 || !overlapsEarlier(all, i, one));
}

/** A longer token may contain a shorter one; the first and longest counts. */
function overlapsEarlier(all: readonly KnownToken[], index: number, { start }: KnownToken): boolean {
  for (let i = index - 1; i >= 0 && i >= index - 8; i--) if ((all[i] as KnownToken).end > start) return true;
  return false;
}

/** Whether the characters on both sides of a border are of one word: then what stands there is part of something longer. */
const joins = (text: string, left: number, right: number): boolean => isPart(text.charCodeAt(left)) && isPart(text.charCodeAt(right));
const isPart = (code: number): boolean => (code > 47 && code < 58) || (code > 96 && code < 123) || code === 95;
