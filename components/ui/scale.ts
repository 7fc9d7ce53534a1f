/** The next round number, so that the scale can be read. */
export function nice(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 10].find((times) => times * unit >= value) ?? 10;
  return Math.max(2, step * unit);
}
