import { grouped } from '#server/kernel/numbers.ts';
import type { Budget } from '../patterns/budget.ts';
import { UnsupportedPattern } from '../patterns/compile.ts';
import { linearPattern } from '../patterns/linear-pattern.ts';
import { longestMatch } from '../patterns/longest-match.ts';
import { longestWord, wordLists, wordsOf } from '../patterns/word-list.ts';
import { CONTEXT_REACH } from './entities/entity.ts';
import type { PiiAction, Span, TokenFormat } from './span.ts';

export const RECOGNIZER_KINDS = ['regex', 'aho_corasick', 'presidio_pattern', 'presidio_ner', 'presidio_custom'] as const;
export type RecognizerKind = (typeof RECOGNIZER_KINDS)[number];

/** A recognizer of a workspace as it is stored. */
export type Recognizer = {
  id: string;
  name: string;
  kind: RecognizerKind;
  pattern: string;
  context_words: readonly string[];
  confidence: number;
  action: PiiAction;
  format: TokenFormat | null;
  enabled: boolean;
};

/** A recognizer that runs in this process, or all of a policy that are lists of words. */
export type CompiledRecognizer = { find: (text: string, from: number, budget: Budget) => Span[] };

/** Matches below this confidence are dropped (interface rule 50 §7.3). */
export const CONFIDENCE_THRESHOLD = 0.5;
export const MOST_WORDS = 10_000;

/** All recognizers, of which the lists of words are searched for at once. @throws UnsupportedPattern, whose message continues the name of the field `pattern` */
export function compileRecognizers(recognizers: readonly Omit<Recognizer, 'enabled'>[]): CompiledRecognizer[] {
  // One that never counts isn't run, but its pattern is judged.
  const lists = recognizers.filter(({ kind }) => kind === 'aho_corasick');
  const patterns = recognizers.filter(({ kind }) => kind !== 'aho_corasick').map(compilePattern);
  for (const { pattern } of lists) assertWords(pattern);
  return lists.length === 0 ? patterns : [...patterns, compileLists(lists)];
}

function compilePattern(recognizer: Omit<Recognizer, 'enabled'>): CompiledRecognizer {
  const { find, matchesEmpty } = linearPattern(recognizer.pattern);
  if (matchesEmpty) throw new UnsupportedPattern('matches the empty string, so it would match everywhere');
  const accept = acceptorOf(recognizer);
  return { find: (text, from, budget) => (accept ? find(text, from, budget).flatMap((range) => accept(text, range) ?? []) : []) };
}

function compileLists(recognizers: readonly Omit<Recognizer, 'enabled'>[]): CompiledRecognizer {
  const { find } = wordLists(recognizers.map(({ pattern }) => pattern));
  const acceptors = recognizers.map(acceptorOf);
  return { find: (text, from, budget) => find(text, from, budget).flatMap((hit) => acceptors[hit.list]?.(text, hit) ?? []) };
}

/** Makes a match a span, or undefined where its context is missing. Undefined: no match counts. */
function acceptorOf({ id, name, context_words, confidence, action, format }: Omit<Recognizer, 'enabled'>) {
  if (confidence < CONFIDENCE_THRESHOLD) return undefined;
  const entity = entityOf(name);
  const context = context_words.map((word) => word.toLowerCase());
  return (text: string, { start, end }: { start: number; end: number }): Span | undefined =>
    context.length === 0 || isNear(text, { start, end }, context)
      ? { start, end, entity, action, format: format ?? 'generic', confidence, validated: false, recognizer_id: id }
      : undefined;
}

/** Characters that must be there before a match is certain: its longest form, and the reach of its context words. Infinity when nothing bounds it. */
export const reachOf = ({ kind, pattern, context_words }: Pick<Recognizer, 'kind' | 'pattern' | 'context_words'>): number =>
  (kind === 'aho_corasick' ? longestWord(pattern) : longestMatch(pattern)) + (context_words.length > 0 ? CONTEXT_REACH : 0);

/** The entity type that placeholders and tokens name: `member_id` is `MEMBER_ID`. */
export const entityOf = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9_]/g, '_');

export const isSidecarKind = (kind: RecognizerKind): boolean => kind.startsWith('presidio_');

function assertWords(pattern: string): void {
  const count = wordsOf(pattern).length;
  if (count === 0) throw new UnsupportedPattern('must have at least one word');
  if (count > MOST_WORDS) throw new UnsupportedPattern(`must have at most ${grouped(MOST_WORDS)} words`);
}

function isNear(text: string, { start, end }: { start: number; end: number }, words: readonly string[]): boolean {
  const before = text.slice(Math.max(0, start - CONTEXT_REACH), start).toLowerCase();
  const after = text.slice(end, end + CONTEXT_REACH).toLowerCase();
  return words.some((word) => before.includes(word) || after.includes(word));
}
