import { type Budget, budgetFor } from '../patterns/budget.ts';
import { candidates } from './detect.ts';
import type { CompiledPolicy } from './policy.ts';
import { firstAfter, type Span, winners } from './span.ts';
import type { Tokenizer } from './tokenizer.ts';

/** How many matches of each entity a call had; never the values. */
export type PiiCounts = Map<string, number>;

/** What a text is judged for. */
export type Rewriting = {
  /** Undefined: nothing is detected, tokens are restored all the same. */
  policy: CompiledPolicy | undefined;
  tokenizer: Tokenizer;
  /** Of a request, matches become tokens; of an answer, tokens become values again and matches placeholders. */
  direction: 'request' | 'answer';
  /** Answers only: whether tokens become values again. */
  restores: boolean;
  counts: PiiCounts;
};

/** A part of a text that is replaced. */
export type Edit = { start: number; end: number; replacement: string; counted: string | undefined };

/** Everything in the text from `from` that may be replaced; an edit of undefined `replacement` keeps the text and still holds its place. */
export function marks(text: string, from: number, rewriting: Rewriting, budget: Budget = budgetFor(text.length - from)): (Span | Known)[] {
  const { policy, tokenizer, direction } = rewriting;
  const tokens: Known[] = direction === 'answer' ? tokenizer.find(text, from).map((token) => ({ ...token, known: true })) : [];
  const spans = policy ? candidates(text, policy, from, budget) : [];
  // A known token is no finding, although it looks like an address or a number.
  return [...tokens, ...spans.filter((span) => !overlaps(tokens, span))];
}

/** Whether one of the tokens, which are in order and apart, shares a character with the span. */
function overlaps(tokens: readonly Known[], { start, end }: Span): boolean {
  const last = tokens[firstAfter(tokens, end - 1) - 1];
  return last !== undefined && last.end > start;
}

/** A known token in an answer. */
export type Known = { known: true; start: number; end: number; value: string };

/** The edits of marks that are certain, in order. */
export function editsOf(text: string, found: readonly (Span | Known)[], rewriting: Rewriting): Edit[] {
  const spans = found.filter((mark): mark is Span => !('known' in mark));
  const edits = winners(spans).flatMap((span) => editOf(text, span, rewriting));
  if (rewriting.restores)
    for (const mark of found)
      if ('known' in mark) edits.push({ start: mark.start, end: mark.end, replacement: mark.value, counted: undefined });
  return edits.sort((a, b) => a.start - b.start);
}

function editOf(text: string, span: Span, { tokenizer, direction, restores }: Rewriting): Edit[] {
  const { start, end, entity, format, action } = span;
  const value = text.slice(start, end);
  const replacement = () => {
    if (action === 'warn') return value;
    if (action === 'redact') return `<${entity}>`;
    if (direction === 'request') return tokenizer.tokenOf(entity, format, value);
    // Of an answer: what the caller sent may come back; what the model brought has no one who could restore a token of it.
    return restores && tokenizer.knows(entity, format, value) ? value : `<${entity}>`;
  };
  return [{ start, end, replacement: replacement(), counted: entity }];
}

/** The text from `from` to `to` with the edits made, each counted. */
export function applied(text: string, from: number, to: number, edits: readonly Edit[], counts: PiiCounts): string {
  let result = '';
  let at = from;
  for (const { start, end, replacement, counted } of edits) {
    result += text.slice(at, start) + replacement;
    at = end;
    if (counted) counts.set(counted, (counts.get(counted) ?? 0) + 1);
  }
  return result + text.slice(at, to);
}

/** A whole text at once. */
export function rewritten(text: string, rewriting: Rewriting, budget?: Budget): string {
  return applied(text, 0, text.length, editsOf(text, marks(text, 0, rewriting, budget), rewriting), rewriting.counts);
}
