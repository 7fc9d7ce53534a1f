import type { Budget } from './budget.ts';

/** Finds whole words and phrases of a list, in one pass over the text whatever the list is (Aho and Corasick, 1975). Letter case doesn't matter. */
export type WordList = {
  longest: number;
  find: (text: string, from: number, budget: Budget) => { start: number; end: number }[];
};

/** `words` is one word or phrase a line; empty lines are skipped. */
export function wordList(words: string): WordList {
  const list = [...new Set(wordsOf(words).map(folded))];
  const automaton = build(list);
  return {
    longest: list.reduce((longest, word) => Math.max(longest, word.length), 0),
    find: (text, from, budget) => search(automaton, text, from, budget),
  };
}

export const wordsOf = (text: string): string[] =>
  text
    .split('\n')
    .map((word) => word.trim())
    .filter(Boolean);

type Automaton = {
  /** From state * 65536 + character to the next state. */
  next: Map<number, number>;
  fail: Int32Array;
  /** Length of the word that ends in the state; 0 for none. */
  length: Int32Array;
  /** The next shorter state on the way of failures in which a word ends; 0 for none. */
  shorter: Int32Array;
};

function build(words: readonly string[]): Automaton {
  const size = words.reduce((sum, word) => sum + word.length, 1);
  const next = new Map<number, number>();
  const fail = new Int32Array(size);
  const length = new Int32Array(size);
  const shorter = new Int32Array(size);
  const edges: { from: number; code: number; to: number }[] = [];
  let states = 1;
  for (const word of words) {
    let state = 0;
    for (let i = 0; i < word.length; i++) {
      const code = word.charCodeAt(i);
      let to = next.get(state * 65_536 + code);
      if (to === undefined) {
        to = states++;
        next.set(state * 65_536 + code, to);
        edges.push({ from: state, code, to });
      }
      state = to;
    }
    length[state] = word.length;
  }
  // Edges in the order of their depth: failures of a state lead to a shallower one.
  for (const { from, code, to } of byDepth(edges, states)) {
    let state = fail[from] as number;
    while (from !== 0 && state !== 0 && !next.has(state * 65_536 + code)) state = fail[state] as number;
    fail[to] = from === 0 ? 0 : (next.get(state * 65_536 + code) ?? 0);
    const failed = fail[to] as number;
    shorter[to] = (length[failed] as number) > 0 ? failed : (shorter[failed] as number);
  }
  return { next, fail, length, shorter };
}

function byDepth<Edge extends { from: number; to: number }>(edges: readonly Edge[], states: number): Edge[] {
  const depth = new Int32Array(states);
  for (const { from, to } of edges) depth[to] = (depth[from] as number) + 1;
  return [...edges].sort((a, b) => (depth[a.to] as number) - (depth[b.to] as number));
}

function search({ next, fail, length, shorter }: Automaton, text: string, from: number, budget: Budget): { start: number; end: number }[] {
  const lower = folded(text);
  const found: { start: number; end: number }[] = [];
  let state = 0;
  for (let i = from; i < lower.length; i++) {
    const code = lower.charCodeAt(i);
    let to = next.get(state * 65_536 + code);
    while (to === undefined && state !== 0) {
      state = fail[state] as number;
      to = next.get(state * 65_536 + code);
    }
    state = to ?? 0;
    if ((i & 1_023) === 0) budget.check();
    for (let word = (length[state] as number) > 0 ? state : (shorter[state] as number); word !== 0; word = shorter[word] as number) {
      const start = i + 1 - (length[word] as number);
      if (start >= from && isWhole(lower, start, i + 1)) {
        found.push({ start, end: i + 1 });
        break;
      }
    }
  }
  return found;
}

const isWhole = (text: string, start: number, end: number): boolean =>
  !(isWord(text, start - 1) && isWord(text, start)) && !(isWord(text, end - 1) && isWord(text, end));

const isWord = (text: string, at: number): boolean => /[\p{L}\p{N}_]/u.test(text[at] ?? '');

/** Lower case without a change of length, so that places stay the same. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : Array.from({ length: text.length }, (_, i) => foldedUnit(text[i] as string)).join('');
}

const foldedUnit = (unit: string): string => {
  const lower = unit.toLowerCase();
  return lower.length === 1 ? lower : unit;
};
