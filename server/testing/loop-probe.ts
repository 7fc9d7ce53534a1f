import assert from 'node:assert/strict';

/** What no turn of an event loop may take, on a quiet core of today. */
const MOST_MS = 50;
/** What a collection of the garbage of earlier turns may add to one. */
const GARBAGE_MS = 25;
/** What the yardstick takes there. */
const YARDSTICK_MS = 3;

/**
 * Does the work and fails if one turn of this thread's event loop took longer than 50 ms meanwhile. What counts is the processor time of the thread, in the
 * measure of a yardstick that runs before, after and right behind each longest turn: neither a busy machine nor a slow one makes it longer.
 */
export async function neverBlocks<T>(work: () => Promise<T>): Promise<T> {
  let slowness = slownessNow();
  let [last, watching] = [used(), true];
  let worst = { took: 0, allowed: MOST_MS };
  const look = () => {
    const took = used() - last;
    if (took > worst.took) {
      slowness = Math.max(slowness, slownessNow());
      worst = { took, allowed: (MOST_MS + GARBAGE_MS) * slowness };
    }
    last = used();
    if (watching) setTimeout(look, 1);
  };
  setTimeout(look, 1);
  try {
    return await work();
  } finally {
    watching = false;
    look();
    const { took, allowed } = worst;
    assert.ok(took <= allowed, `a turn of the event loop took ${took.toFixed(0)} ms and may take ${allowed.toFixed(0)}`);
  }
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
