/**
 * Whether each word of a text is, but for typing errors, the beginning of one of the given words: one error in four letters, two from eight on,
 * none in a number. A swap of neighbours is one error (Damerau's distance, restricted).
 */
export function mistyped(text: string, words: string): boolean {
  const known = words.split(' ');
  return wordsOf(text).every((typed) => known.some((word) => errors(typed, word) <= forgiven(typed)));
}

const forgiven = (typed: string) => (typed.length < 4 || /\d/.test(typed) ? 0 : typed.length < 8 ? 1 : 2);
const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .slice(0, 8);

/** The fewest errors between what was typed and any beginning of the word. */
function errors(typed: string, word: string): number {
  const columns = Math.min(word.length, typed.length + 2);
  let before: number[] = [];
  let row = Array.from({ length: columns + 1 }, (_, j) => j);
  for (let i = 1; i <= typed.length; i++) {
    const next = [i];
    for (let j = 1; j <= columns; j++) {
      const same = typed[i - 1] === word[j - 1];
      const swapped = i > 1 && j > 1 && typed[i - 1] === word[j - 2] && typed[i - 2] === word[j - 1];
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = row;
    row = next;
  }
  return Math.min(...row);
}
