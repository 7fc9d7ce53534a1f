import type { Lease, LeaseHandlers } from '#server/kernel/lease.ts';
import type { Tx } from '#server/kernel/tx.ts';
import { shipStream } from './shipping.ts';

/** A batch leaves at least this often while there is something to send (interface rule 61 §7). */
const PAUSE_MS = 5_000;
const LONGEST_MS = 600_000;

export const leases: LeaseHandlers = {
  log_stream: {
    batch: 10,
    release: (lease, signal) => shipStream(lease, signal),
    handle: async (tx, due, now) => ({ next: await nextTurns(tx, due, now), acted: due.length }),
  },
};

/** The next turn of each stream: soon, or later and later while its destination fails. One that is off has none. */
async function nextTurns(tx: Tx, due: readonly Lease[], now: Date): Promise<Map<string, Date>> {
  const streams = await tx.log_streams.findMany({
    where: { id: { in: due.map(({ resource_id }) => resource_id) }, enabled: true },
    select: { id: true, attempts: true },
  });
  return new Map(streams.map(({ id, attempts }) => [id, new Date(now.getTime() + pauseAfter(attempts))]));
}

/** Milliseconds until the next try after so many failures in a row. */
export const pauseAfter = (attempts: number): number => Math.min(PAUSE_MS * 2 ** Math.min(attempts, 10), LONGEST_MS);
