import assert from 'node:assert/strict';

/** What no turn of an event loop may take. */
const MOST_MS = 50;

/**
 * Does the work and fails if one turn of this thread's event loop took longer than 50 ms meanwhile. What counts is the processor time of the thread, so that a
 * busy machine makes it no longer.
 */
export async function neverBlocks<T>(work: () => Promise<T>): Promise<T> {
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
    assert.ok(worst <= MOST_MS, `a turn of the event loop took ${worst.toFixed(0)} ms`);
  }
}

/** Milliseconds of processor time of this thread. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
