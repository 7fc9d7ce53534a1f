import assert from 'node:assert/strict';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** What no turn of an event loop may take, on a quiet core of today. */
const MOST_MS = 50;
/** What a collection of the garbage of earlier turns may add to one. */
const GARBAGE_MS = 25;
/** What the yardstick takes there. */
const YARDSTICK_MS = 3;

type Turn = { from: number; to: number; took: number; allowed: number };

/**
 * Does the work and fails if one turn of this thread's event loop took longer than 50 ms meanwhile. What counts is the processor time of the thread, in the
 * measure of a yardstick that runs before, after and right behind each long turn: neither a busy machine nor a slow one makes it longer. A collection of the
 * whole heap is left out: it goes through what all tests of the process hold.
 */
export async function neverBlocks<T>(work: () => Promise<T>): Promise<T> {
  let slowness = slownessNow();
  let [last, from, watching] = [used(), performance.now(), true];
  const long: Turn[] = [];
  const collections = watchCollections();
  const look = () => {
    const took = used() - last;
    if (took > MOST_MS + GARBAGE_MS) {
      slowness = Math.max(slowness, slownessNow());
      long.push({ from, to: performance.now(), took, allowed: (MOST_MS + GARBAGE_MS) * slowness });
    }
    [last, from] = [used(), performance.now()];
    if (watching) setTimeout(look, 1);
  };
  setTimeout(look, 1);
  try {
    return await work();
  } finally {
    watching = false;
    look();
    const collected = await collections.end();
    for (const { took, allowed, ...turn } of long) {
      const without = took - collected(turn);
      assert.ok(without <= allowed, `a turn of the event loop took ${without.toFixed(0)} ms and may take ${allowed.toFixed(0)}`);
    }
  }
}

/** Notes collections of the whole heap until `end`, which gives how many milliseconds of a turn they took. */
function watchCollections() {
  const seen: PerformanceEntry[] = [];
  const note = (entries: PerformanceEntry[]) =>
    seen.push(
      ...entries.filter((one) => (one as unknown as { detail: { kind: number } }).detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR),
    );
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return {
    async end() {
      await nextTurn(); // a collection is told of in the turn after it
      note(observer.takeRecords());
      observer.disconnect();
      return ({ from, to }: Pick<Turn, 'from' | 'to'>) =>
        seen.reduce((sum, { startTime, duration }) => sum + Math.max(0, Math.min(to, startTime + duration) - Math.max(from, startTime)), 0);
    },
  };
}

/** How many times longer than on a quiet core of today the usual work takes here and now. */
const slownessNow = () => Math.max(1, yardstick() / YARDSTICK_MS);

/** Milliseconds of processor time of this thread. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const TEXT = JSON.stringify(Array.from({ length: 12_000 }, (_, i) => ({ name: `member ${i}`, value: i, list: [i, 'text'] })));
/** What a fixed piece of the usual work takes here and now. */
function yardstick(): number {
  const began = used();
  JSON.stringify(JSON.parse(TEXT));
  return used() - began;
}
