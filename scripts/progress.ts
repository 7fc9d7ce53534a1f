// What a start is doing: one line for each step with its seconds. On a terminal the line of the running steps counts along.

const began = performance.now();
const running = new Map<string, number>();

/** Runs one step of several that may overlap, and prints its seconds when it took long enough to be noticed. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  running.set(name, start);
  try {
    const result = await work();
    const seconds = secondsSince(start);
    if (Number(seconds) >= WORTH_A_LINE) say(`  ${name.padEnd(40)}${seconds.padStart(6)} s`);
    return result;
  } finally {
    running.delete(name);
  }
}

const WORTH_A_LINE = 0.1;

/** Prints lines where the live line was. */
export function say(text: string): void {
  console.log(process.stdout.isTTY ? `${CLEAR}${text}` : text);
}

/** Since this process began, with one decimal. */
export const elapsed = (): string => secondsSince(began);

const secondsSince = (start: number): string => ((performance.now() - start) / 1000).toFixed(1);

const CLEAR = '\r\x1b[2K';
// It ends at the beginning of the line, so that a log line of another process is printed over it and not after it.
const drawLine = () =>
  process.stdout.write(
    `${CLEAR}  ${[...running].map(([name, start]) => `${name} ${Math.round(Number(secondsSince(start)))} s`).join(', ')}\r`,
  );
if (process.stdout.isTTY) setInterval(() => running.size > 0 && drawLine(), 1_000).unref();
