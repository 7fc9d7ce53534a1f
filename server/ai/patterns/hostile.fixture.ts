/** A text of `a` and `b` without any order, so that an automaton that remembers what it read has a new state at every character. */
export function unordered(length: number): string {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 16) & 1 ? 'a' : 'b';
  };
  return Array.from({ length }, next).join('');
}
