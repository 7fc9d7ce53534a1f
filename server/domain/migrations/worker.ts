import type { Db } from '#server/kernel/database.ts';
import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import { addJob } from '#server/platform/queue.ts';
import { type DiscoveryOptions, discover } from './discovery.ts';

// A store may be slow, long, or without an end, and the queue does everything else of the service too. So a discovery goes on in slices, and this process
// works on so many at once at most, fewer than its queue has places.
const SLICE_MS = 20_000;
const RESUMED_MS = 40_000;
const MOST_AT_ONCE = 2;
const AGAIN_MS = 5_000;
const running = processState('migration-discoveries', () => ({ count: 0 }));

async function slice(db: Db, id: string, options: DiscoveryOptions): Promise<number> {
  running.count++;
  try {
    return (await discover(db, id, { until: Date.now() + SLICE_MS, ...options })) ?? 0;
  } finally {
    running.count--;
  }
}

/** The job of one migration: a slice of it, and another job for the rest, behind those that wait already. */
export async function discoverOne(db: Db, payload: Record<string, unknown>, signal: AbortSignal, options: DiscoveryOptions = {}) {
  const { migration_id: id } = payload;
  if (typeof id !== 'string') return 0;
  if (running.count >= MOST_AT_ONCE) {
    await again(id, AGAIN_MS);
    return 0;
  }
  const added = await slice(db, id, { signal, ...options });
  const rest = await db.secret_migrations.count({
    where: { id, status: 'discovering', pull_finished_at: null, lease_owner: null, next_attempt_at: null, mode: { in: ['pull', 'both'] } },
  });
  if (rest > 0 && !signal.aborted) await again(id, 0);
  return added;
}

const again = (id: string, ms: number) =>
  addJob(
    null,
    'discover_migration',
    { migration_id: id },
    { job_key: `discover_migration:${id}`, max_attempts: 3, run_at: new Date(Date.now() + ms) },
  ).catch((error: unknown) => log.warn({ err: error, migration_id: id }, 'discovery of a migration goes on within a minute'));

/** Goes on with what a worker left behind, and with what is to be tried again; a slice of each, those first that waited longest. */
export async function resumeDiscoveries(db: Db, now: Date, signal: AbortSignal): Promise<number> {
  const rows = await db.secret_migrations.findMany({
    where: {
      status: { in: ['pending', 'discovering'] },
      mode: { in: ['pull', 'both'] },
      pull_finished_at: null,
      AND: [
        { OR: [{ lease_expires_at: null }, { lease_expires_at: { lt: now } }] },
        { OR: [{ next_attempt_at: null }, { next_attempt_at: { lte: now } }] },
      ],
    },
    orderBy: [{ last_heartbeat_at: { sort: 'asc', nulls: 'first' } }, { created_at: 'asc' }],
    select: { id: true },
    take: 50,
  });
  const over = Date.now() + RESUMED_MS;
  let added = 0;
  for (const { id } of rows) {
    if (signal.aborted || Date.now() >= over || running.count >= MOST_AT_ONCE) break;
    added += await slice(db, id, { signal });
  }
  return added;
}
