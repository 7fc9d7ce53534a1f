import { setTimeout as sleep } from 'node:timers/promises';
import { randomBuffer } from '#server/crypto/random.ts';
import { DatabaseFault } from './fault.ts';
import type { Wire } from './wire.ts';

/** How long work is repeated that other sessions of the server got in the way of. Shorter than the time of all work on it. */
export const RETRY_MS = 30_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [25, 1_000];

/**
 * Runs work again while the server says that another session changed the same objects first: grants on one table, deadlocks. Those sessions may be
 * ours, of another process or connection, or anybody's, so a lock of ours would not do. The work must leave nothing behind when it fails like that.
 * @throws DatabaseFault
 */
export async function retryConflicts<T>(work: () => Promise<T>, retryMs = RETRY_MS): Promise<T> {
  const until = performance.now() + retryMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseFault) || !error.conflict) throw error;
      if (performance.now() + pause > until) throw error.outlasting();
    }
    // At random, or those that collided once would collide again.
    await sleep((randomBuffer(1).readUInt8() / 256) * pause);
  }
}

/** A wire whose statements are repeated each on its own, for those that are final by themselves. */
export const retryingWire = (wire: Wire): Wire => ({ ...wire, query: (statement) => retryConflicts(() => wire.query(statement)) });
