import assert from 'node:assert/strict';

/** What no turn of an event loop may take, on a quiet core of today. */
const MOST_MS = 50;
/** What the yardstick takes there. */
const YARDSTICK_MS = 3;

/**
 * Does the work and fails if one turn of this thread's event loop took longer than 50 ms meanwhile. What counts is the processor time of the thread, in the
 * measure of a yardstick that runs before and after: neither a busy machine nor a slow one makes it longer.
 */
export async function neverBlocks<T>(work: () => Promise<T>): Promise<T> {
  const before = yardstick();
  let [last, worst, watching] = [used(), 0, true];
  const look = () => {
    const now = used();
    worst = Math.max(worst, now - last);
    last = now;
    if (watching) setTimeout(look, 1);
  };
  setTimeout(look, 1);
  try {
    return await work();
  } finally {
    watching = false;
    worst = Math.max(worst, used() - last);
    const allowed = MOST_MS * Math.max(1, before / YARDSTICK_MS, yardstick() / YARDSTICK_MS);
    assert.ok(worst <= allowed, `a turn of the event loop took ${worst.toFixed(0)} ms and may take ${allowed.toFixed(0)}`);
  }
}

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
