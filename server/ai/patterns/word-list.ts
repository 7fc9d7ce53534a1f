import { randomBuffer } from '#server/crypto/random.ts';
import type { Budget } from './budget.ts';
import { folded, isWordUnit } from './text-units.ts';

/** A word or phrase of one of the lists in a text, by UTF-16 offsets. */
export type WordHit = { start: number; end: number; list: number };

/** Finds whole words and phrases of many lists, in one pass over the text. Letter case doesn't matter. */
export type WordLists = { find: (text: string, from: number, budget: Budget) => WordHit[] };

/** The trimmed lines of a list; empty ones are skipped. */
export const wordsOf = (text: string): string[] =>
  text
    .split('\n')
    .map((word) => word.trim())
    .filter(Boolean);

/** Characters of the longest word of a list. */
export function longestWord(text: string): number {
  let longest = 0;
  eachWord(text, (start, end) => {
    longest = Math.max(longest, end - start);
  });
  return longest;
}

/**
 * All lists of a policy as one table of hashes in typed arrays: some 30 bytes a word beside the text itself, which an automaton of states and edges exceeds many
 * times over. A second table of the beginnings that words have ends most comparisons after a few characters.
 */
type Table = {
  texts: readonly string[];
  /** By the hash of a word, the first of its entries; 0 for none. Entries count from 1. */
  buckets: Uint32Array;
  next: Uint32Array;
  hash: Int32Array;
  list: Uint32Array;
  at: Uint32Array;
  length: Uint32Array;
  /** One bit for each beginning of 2, 4, 8... characters, by its hash. */
  beginnings: Uint32Array;
  /** Which characters a word begins with. */
  firsts: Uint8Array;
  longest: number;
};

/** Each list is one word or phrase a line. */
export function wordLists(lists: readonly string[]): WordLists {
  const table = build(lists.map(folded));
  return { find: (text, from, budget) => search(table, text, from, budget) };
}

function build(texts: readonly string[]): Table {
  let count = 0;
  let beginnings = 0;
  let longest = 0;
  for (const text of texts)
    eachWord(text, (start, end) => {
      count++;
      longest = Math.max(longest, end - start);
      beginnings += 32 - Math.clz32(end - start);
    });
  const table: Table = {
    texts,
    buckets: new Uint32Array(powerAbove(count)),
    next: new Uint32Array(count + 1),
    hash: new Int32Array(count + 1),
    list: new Uint32Array(count + 1),
    at: new Uint32Array(count + 1),
    length: new Uint32Array(count + 1),
    beginnings: new Uint32Array(powerAbove(beginnings) >> 1 || 1),
    firsts: new Uint8Array(65_536),
    longest,
  };
  let entry = 0;
  for (const [list, text] of texts.entries()) eachWord(text, (start, end) => add(table, ++entry, list, start, end));
  return table;
}

function add(table: Table, entry: number, list: number, start: number, end: number): void {
  const text = table.texts[list] as string;
  table.firsts[text.charCodeAt(start)] = 1;
  let hash = SEED;
  for (let at = start, mark = 2; at < end; at++) {
    hash = mixed(hash, text.charCodeAt(at));
    if (at + 1 - start !== mark) continue;
    const bit = bitOf(table, hash);
    (table.beginnings[bit >>> 5] as number) |= 1 << (bit & 31);
    mark *= 2;
  }
  const bucket = bucketOf(table, hash);
  // A list that has a word twice has it once.
  for (let other = table.buckets[bucket] as number; other !== 0 && table.list[other] === list; other = table.next[other] as number)
    if (table.hash[other] === hash && isEntry(table, other, text, start, end)) return;
  table.next[entry] = table.buckets[bucket] as number;
  table.hash[entry] = hash;
  table.list[entry] = list;
  table.at[entry] = start;
  table.length[entry] = end - start;
  table.buckets[bucket] = entry;
}

function search(table: Table, text: string, from: number, budget: Budget): WordHit[] {
  const lower = folded(text);
  const found: WordHit[] = [];
  let steps = 0;
  for (let start = from; start < lower.length; start++) {
    const first = lower.charCodeAt(start);
    if (++steps > STEPS) {
      budget.check();
      steps = 0;
    }
    if (table.firsts[first] === 0 || (isWordUnit(first) && start > 0 && isWordUnit(lower.charCodeAt(start - 1)))) continue;
    const limit = Math.min(lower.length, start + table.longest);
    let hash = SEED;
    for (let at = start, mark = 2; at < limit; at++) {
      const code = lower.charCodeAt(at);
      hash = mixed(hash, code);
      if (!(isWordUnit(code) && isWordUnit(lower.charCodeAt(at + 1)))) report(table, lower, start, at + 1, hash, found);
      if (at + 1 - start !== mark) continue;
      const bit = bitOf(table, hash);
      if (((table.beginnings[bit >>> 5] as number) & (1 << (bit & 31))) === 0) break;
      steps += mark;
      mark *= 2;
    }
  }
  return found;
}

function report(table: Table, lower: string, start: number, end: number, hash: number, found: WordHit[]): void {
  for (let entry = table.buckets[bucketOf(table, hash)] as number; entry !== 0; entry = table.next[entry] as number)
    if (table.hash[entry] === hash && isEntry(table, entry, lower, start, end))
      found.push({ start, end, list: table.list[entry] as number });
}

/** Hashes only choose what is compared: a text that was made to collide finds nothing. */
function isEntry({ texts, list, at, length }: Table, entry: number, text: string, start: number, end: number): boolean {
  if (length[entry] !== end - start) return false;
  const own = texts[list[entry] as number] as string;
  const offset = (at[entry] as number) - start;
  for (let i = start; i < end; i++) if (own.charCodeAt(i + offset) !== text.charCodeAt(i)) return false;
  return true;
}

function eachWord(text: string, visit: (start: number, end: number) => void): void {
  for (let line = 0; line <= text.length; ) {
    const stop = text.indexOf('\n', line);
    const next = stop === -1 ? text.length : stop;
    let [start, end] = [line, next];
    while (start < end && isSpace(text, start)) start++;
    while (end > start && isSpace(text, end - 1)) end--;
    if (end > start) visit(start, end);
    line = next + 1;
  }
}

/** What `trim` takes away. */
const isSpace = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code < 128 ? code === 32 || (code > 8 && code < 14) : (text[at] as string).trim() === '';
};

/** Of this process alone, so that nobody can choose words or texts whose hashes collide. */
const SEED = randomBuffer(4).readInt32LE();
function mixed(hash: number, code: number): number {
  const product = Math.imul(hash ^ code, 0x2c1b3c6d);
  return product ^ (product >>> 15);
}
const bucketOf = ({ buckets }: Table, hash: number): number => (Math.imul(hash, 0x297a2d39) >>> 1) & (buckets.length - 1);
const bitOf = ({ beginnings }: Table, hash: number): number => (Math.imul(hash, 0x7feb352d) >>> 3) & (beginnings.length * 32 - 1);
const powerAbove = (count: number): number => 2 ** (32 - Math.clz32(count));

const STEPS = 4_096;
