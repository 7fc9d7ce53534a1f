import type { ConversationKey } from '#server/crypto/pii-keys.ts';
import { BudgetExceeded } from '../patterns/budget.ts';
import { folded } from '../patterns/text-units.ts';
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
  /** What is kept when the provider keeps state; in the order in which it came. */
  entries: () => TokenEntry[];
  /** Takes over what was made elsewhere for the same conversation. */
  add: (entries: readonly TokenEntry[]) => void;
  readonly conversation: ConversationKey;
  /** Tells the tokenizers of this process apart. */
  readonly id: number;
  readonly size: number;
};

/** Distinct values of one conversation. */
export const MOST_TOKENS = 10_000;
let made = 0;

/** A tokenizer of one conversation; `kept` are entries of earlier calls. */
export function createTokenizer(conversation: ConversationKey, kept: readonly TokenEntry[] = []): Tokenizer {
  const byToken = new Map<string, TokenEntry>();
  const byBare = new Map<string, TokenEntry>();
  const beginnings: Beginnings = new Map();
  const byValue = new Map<string, TokenEntry>();
  const id = ++made;
  let marked = true;
  const keyOf = (entity: string, format: TokenFormat, value: string) => `${entity}\0${normalized(format, value)}`;
  const remember = (entry: TokenEntry) => {
    const token = folded(entry.token);
    const bare = token.startsWith('+') ? token.slice(1) : token;
    byToken.set(token, entry);
    byBare.set(bare, entry);
    addBeginning(beginnings, bare);
    byValue.set(keyOf(entry.entity, entry.format, entry.value), entry);
    marked &&= /[0-9_-]/.test(entry.token);
  };
  const add = (entries: readonly TokenEntry[]) => {
    for (const entry of entries) if (!byToken.has(folded(entry.token))) remember(entry);
  };
  add(kept);
  const known = (entity: string, format: TokenFormat, value: string) => byValue.get(keyOf(entity, format, value));

  return {
    tokenOf(entity, format, value) {
      const before = known(entity, format, value);
      if (before) return before.token;
      if (byToken.size >= MOST_TOKENS) throw new BudgetExceeded('The conversation has too many values that tokens would stand for.');
      let token = tokenFor(conversation, entity, format, value);
      // FF1 has no counter: a collision there is answered in the generic form.
      for (let counter = 1; byToken.has(folded(token)) && counter < 256; counter++)
        token = tokenFor(conversation, entity, format === 'fpe' ? 'generic' : format, value, counter);
      remember({ token, value, entity, format });
      return token;
    },
    find: (text, from = 0) => (byToken.size === 0 ? [] : findTokens(byBare, beginnings, text, from)),
    knows: (entity, format, value) => known(entity, format, value) !== undefined,
    areMarked: () => marked,
    entries: () => [...byToken.values()],
    add,
    conversation,
    id,
    get size() {
      return byToken.size;
    },
  };
}

/** How the tokens of a conversation begin, and how long those with such a beginning are. */
type Beginnings = Map<number, number[]>;

const beginningOf = (text: string, at: number): number => text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);

function addBeginning(beginnings: Beginnings, token: string): void {
  const key = beginningOf(token, 0);
  const lengths = beginnings.get(key);
  if (!lengths) beginnings.set(key, [token.length]);
  // The longest first: it wins where a shorter one begins as well.
  else if (!lengths.includes(token.length))
    beginnings.set(
      key,
      [...lengths, token.length].sort((a, b) => b - a),
    );
}

/** One pass over the text, however many tokens there are. */
function findTokens(byBare: ReadonlyMap<string, TokenEntry>, beginnings: Beginnings, text: string, from: number): KnownToken[] {
  const lower = folded(text);
  const found: KnownToken[] = [];
  for (let at = from; at < lower.length; at++) {
    if (at > 0 && joins(lower, at - 1, at)) continue;
    for (const length of beginnings.get(beginningOf(lower, at)) ?? []) {
      const end = at + length;
      if (end > lower.length || joins(lower, end - 1, end)) continue;
      const entry = byBare.get(lower.slice(at, end));
      if (!entry) continue;
      // A token that has lost its `+` is known too; one that hasn't takes it along.
      const start = entry.token.startsWith('+') && at > from && lower[at - 1] === '+' ? at - 1 : at;
      found.push({ start, end, value: entry.value });
      at = end - 1;
      break;
    }
  }
  return found;
}

/** Whether the characters on both sides of a border are of one word: then what stands there is part of something longer. */
const joins = (text: string, left: number, right: number): boolean => isPart(text.charCodeAt(left)) && isPart(text.charCodeAt(right));
const isPart = (code: number): boolean => (code > 47 && code < 58) || (code > 96 && code < 123) || code === 95;
