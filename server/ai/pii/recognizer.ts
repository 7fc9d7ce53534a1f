import type { Budget } from '../patterns/budget.ts';
import { linearPattern, UnsupportedPattern } from '../patterns/linear-pattern.ts';
import { wordList, wordsOf } from '../patterns/word-list.ts';
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

/** A recognizer that runs in this process. */
export type CompiledRecognizer = {
  id: string;
  /** Characters that must be there before a match is certain: its longest form, and the reach of its context words. */
  reach: number;
  find: (text: string, from: number, budget: Budget) => Span[];
};

/** Matches below this confidence are dropped (interface rule 50 §7.3). */
export const CONFIDENCE_THRESHOLD = 0.5;
export const MOST_WORDS = 10_000;

/** @throws UnsupportedPattern, whose message continues the name of the field `pattern` */
export function compileRecognizer(recognizer: Omit<Recognizer, 'enabled'>): CompiledRecognizer {
  const { id, kind, pattern, context_words: words, confidence, action, format } = recognizer;
  const entity = entityOf(recognizer.name);
  const engine = engineOf(kind, pattern);
  const context = words.map((word) => word.toLowerCase());
  return {
    id,
    reach: engine.longest + (context.length > 0 ? CONTEXT_REACH : 0),
    find: (text, from, budget) =>
      confidence < CONFIDENCE_THRESHOLD
        ? []
        : engine
            .find(text, from, budget)
            .filter((range) => context.length === 0 || isNear(text, range, context))
            .map(({ start, end }) => ({
              start,
              end,
              entity,
              action,
              format: format ?? 'generic',
              confidence,
              validated: false,
              recognizer_id: id,
            })),
  };
}

/** The entity type that placeholders and tokens name: `member_id` is `MEMBER_ID`. */
export const entityOf = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9_]/g, '_');

export const isSidecarKind = (kind: RecognizerKind): boolean => kind.startsWith('presidio_');

function engineOf(kind: RecognizerKind, pattern: string) {
  if (kind === 'aho_corasick') {
    const count = wordsOf(pattern).length;
    if (count === 0) throw new UnsupportedPattern('must have at least one word');
    if (count > MOST_WORDS) throw new UnsupportedPattern(`must have at most ${MOST_WORDS} words`);
    return wordList(pattern);
  }
  const compiled = linearPattern(pattern);
  if (compiled.matchesEmpty) throw new UnsupportedPattern('matches the empty string, so it would match everywhere');
  return compiled;
}

function isNear(text: string, { start, end }: { start: number; end: number }, words: readonly string[]): boolean {
  const before = text.slice(Math.max(0, start - CONTEXT_REACH), start).toLowerCase();
  const after = text.slice(end, end + CONTEXT_REACH).toLowerCase();
  return words.some((word) => before.includes(word) || after.includes(word));
}
