import assert from 'node:assert/strict';

/** How many times larger the large input of a comparison is: quadratic work takes this many times as long as linear work would. */
const FACTOR = 32;

/** Between 1 of linear and 32 of quadratic work, with room for caches and garbage collection, which make large inputs dearer. */
const BOUND = 6;

/** Shorter runs, in ms, say little of what grows: on a busy machine the fixed costs of a small input take one. Only the comparison of the largest size includes them. */
const MEASURABLE = 5;

/** The longest tick, in ms, in which a system counts processor time. */
const TICK = 10;

/** Comparisons without a better time after which a ratio over the bound is the truth, and after which one far over it is. */
const CERTAIN = { over: 20, farOver: 3 };

/**
 * Fails unless `work` on `input(size)` takes time proportional to the size, up to the size `largest`; `work` sees an input many times.
 * Compares two sizes, interleaved and over the least of many runs, so that a busy machine makes this slower and not wrong.
 */
export async function assertGrowsLinearly<T>(
  what: string,
  largest: number,
  input: (size: number) => T,
  work: (input: T) => unknown,
): Promise<void> {
  // In small steps: exponential work is found before a run of it takes minutes.
  for (let size = 8; size < largest; size = Math.ceil(size * 1.5)) {
    const given = input(size);
    if ((await time(work, given)) > MEASURABLE) await compare(what, size, input, work, 1, MEASURABLE);
  }
  await compare(what, largest, input, work, 3, 0);
}

/** One input of the size against many of a fraction of it. Both take the same time when work is linear, so load disturbs both alike. */
async function compare<T>(
  what: string,
  size: number,
  input: (size: number) => T,
  work: (input: T) => unknown,
  rounds: number,
  measurable: number,
): Promise<void> {
  const fraction = Math.max(1, Math.floor(size / FACTOR));
  const [small, large] = [input(fraction), input(size)];
  let [many, one] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const ratio = () => (one * fraction * FACTOR) / (many * size);
  for (let round = 1, since = 0; round <= rounds || (ratio() > BOUND && one > measurable); round++) {
    const [nowMany, nowOne] = [await time(work, small, FACTOR), await time(work, large)];
    since = nowOne < one * 0.98 ? 0 : since + 1;
    many = Math.min(many, nowMany);
    one = Math.min(one, nowOne);
    if (since > (ratio() > FACTOR * BOUND ? CERTAIN.farOver : CERTAIN.over))
      assert.ok(ratio() <= BOUND, `${what}: size ${size} takes ${ratio().toFixed(1)} times as long as ${FACTOR} of size ${fraction}`);
  }
}

/**
 * Milliseconds of `times` runs. Long ones by the processor time of this thread: on a busy machine they wait for others, and for the threads that collect
 * garbage with them. It's counted in ticks, so short ones are timed by the clock.
 */
async function time<T>(work: (input: T) => unknown, input: T, times = 1): Promise<number> {
  const [began, before] = [performance.now(), process.threadCpuUsage()];
  for (let i = 0; i < times; i++) {
    const result = work(input);
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.threadCpuUsage(before);
  return Math.min(performance.now() - began, (user + system) / 1_000 + TICK);
}
