// One line per thing measured, with what it is held against.

export type Row = {
  what: string;
  /** Median, with its unit. */
  measured: string;
  /** The same of the peer, when there is one. */
  against: string;
  /** Median over the rounds of the ratio within a round, or the number the target is about. */
  value: string;
  target: string;
  /** Null: told for information, without a target. */
  pass: boolean | null;
};

const titles: Record<Exclude<keyof Row, 'pass'>, string> = {
  what: 'what',
  measured: 'Sallyport',
  against: 'peer',
  value: 'result',
  target: 'target',
};
const columns = Object.keys(titles) as (keyof typeof titles)[];

export function table(rows: readonly Row[]): string {
  const widths = columns.map((column) => Math.max(titles[column].length, ...rows.map((row) => row[column].length)));
  const line = (cells: readonly string[], verdict: string) =>
    `${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}  ${verdict}`.trimEnd();
  return [
    line(
      columns.map((column) => titles[column]),
      '',
    ),
    line(
      widths.map((width) => '-'.repeat(width)),
      '----',
    ),
    ...rows.map((row) =>
      line(
        columns.map((column) => row[column]),
        row.pass === null ? '' : row.pass ? 'pass' : 'MISS',
      ),
    ),
  ].join('\n');
}

export const micros = (us: number): string => `${us.toFixed(1)} us`;
export const millis = (ms: number): string => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
export const times = (ratio: number): string => `${ratio.toFixed(2)} x`;

/** A step on standard error, so that the table alone is on standard output. */
export function say(sentence: string): void {
  console.error(`  ${sentence}`);
}
