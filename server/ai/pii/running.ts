import { type Budget, budgetFor } from '../patterns/budget.ts';
import { applied, editsOf, marks, type Rewriting } from './rewrite.ts';

/**
 * Texts that are read one after another: each is searched by itself, and all of them as one, so that a value that is cut in two is found as well. What is found
 * across a border is replaced in the first of its texts and taken out of the others.
 */
export function rewrittenRunning(
  texts: readonly string[],
  rewriting: Rewriting,
  budget: Budget = budgetFor(2 * texts.reduce((sum, { length }) => sum + length, 0)),
): string[] {
  const joined = texts.join('');
  const starts: number[] = [];
  let at = 0;
  for (const { length } of texts) {
    starts.push(at);
    at += length;
  }
  const own = texts.flatMap((text, i) =>
    marks(text, 0, rewriting, budget).map((mark) => ({
      ...mark,
      start: mark.start + (starts[i] as number),
      end: mark.end + (starts[i] as number),
    })),
  );
  // What one text holds by itself isn't continued by the next.
  const covered = new Uint8Array(joined.length);
  for (const { start, end } of own) covered.fill(1, start, end);
  const borders = new Uint8Array(joined.length + 1);
  for (const start of starts) borders[start] = 1;
  const isNew = ({ start, end }: { start: number; end: number }) =>
    borders.subarray(start + 1, end).includes(1) && !covered.subarray(start, end).includes(1);
  const across = texts.length > 1 ? marks(joined, 0, rewriting, budget).filter(isNew) : [];
  let last = 0;
  const edits = editsOf(joined, [...own, ...across], rewriting).filter(({ start, end }) => {
    const fits = start >= last;
    if (fits) last = end;
    return fits;
  });
  let first = 0;
  return texts.map((text, i) => {
    const from = starts[i] as number;
    const to = from + text.length;
    while (first < edits.length && (edits[first] as { end: number }).end <= from) first++;
    const mine = [];
    for (let n = first; n < edits.length; n++) {
      const edit = edits[n] as (typeof edits)[number];
      if (edit.start >= to) break;
      const begins = edit.start >= from;
      mine.push({
        start: Math.max(edit.start, from),
        end: Math.min(edit.end, to),
        replacement: begins ? edit.replacement : '',
        counted: begins ? edit.counted : undefined,
      });
    }
    return mine.length > 0 ? applied(joined, from, to, mine, rewriting.counts) : text;
  });
}
