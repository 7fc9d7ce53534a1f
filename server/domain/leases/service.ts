import type { Db } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { Lease, LeaseHandler, LeaseHandlers } from '#server/kernel/lease.ts';
import { log } from '#server/platform/log.ts';
import { tally } from '#server/platform/telemetry/meters.ts';
import { assertHeld, claimDue, giveBack, LeaseLost, postpone, settle, TRANSACTION_MS } from './store.ts';

const handled = tally({ name: 'sallyport_leases_handled', help: 'Leases that something was done about' }, 'kind');
const failures = tally({ name: 'sallyport_lease_failures', help: 'Leases that could not be handled and are tried again' }, 'kind');

type Sweep = { db: Db; now: Date; signal?: AbortSignal /** Overrides the handlers' batch size. */; batch?: number };

/** After this long a sweep leaves the rest to the next one. */
const SWEEP_MS = 50_000;
const BATCH = 200;
const RELEASES_AT_ONCE = 5;

/**
 * Handles every lease that is due, however long ago: what came due while no worker ran is caught up here. Kinds take turns, so a backlog of one doesn't
 * delay the others. @returns how many leases of each kind something was done about; kinds without any are left out
 */
export async function sweepLeases(handlers: LeaseHandlers, sweep: Sweep): Promise<Record<string, number>> {
  const until = Date.now() + SWEEP_MS;
  const acted: Record<string, number> = {};
  for (let open = Object.keys(handlers); open.length > 0 && Date.now() < until && !sweep.signal?.aborted; ) {
    const more: string[] = [];
    for (const kind of open) {
      const handler = handlers[kind] as LeaseHandler;
      const batch = sweep.batch ?? handler.batch ?? BATCH;
      const run = { ...sweep, kind, handler, owner: newId() };
      const due = await claimDue(sweep.db, kind, run.owner, sweep.now, batch);
      const done = due.length === 0 ? 0 : await handleBatch(run, await released(run, due));
      if (done > 0) {
        acted[kind] = (acted[kind] ?? 0) + done;
        handled.add(kind, done);
      }
      if (due.length === batch) more.push(kind);
    }
    open = more;
  }
  return acted;
}

type Run = Sweep & { kind: string; handler: LeaseHandler; owner: string };

/** The leases whose outside work is done. */
async function released(run: Run, due: readonly Lease[]): Promise<Lease[]> {
  const { release, releaseAll } = run.handler;
  const signal = run.signal ?? new AbortController().signal;
  if (releaseAll && due.length > 0) return releasedTogether(run, due, releaseAll, signal);
  if (!release) return [...due];
  const done: Lease[] = [];
  for (let at = 0; at < due.length; at += RELEASES_AT_ONCE)
    await Promise.all(
      due.slice(at, at + RELEASES_AT_ONCE).map((lease) =>
        release(lease, signal).then(
          () => done.push(lease),
          (error: unknown) => failed(run, lease, error),
        ),
      ),
    );
  return done;
}

/** Whoever releases a batch as one accounts for what fails in it; a rejection is our own fault and postpones them all. */
async function releasedTogether(
  run: Run,
  due: readonly Lease[],
  releaseAll: NonNullable<LeaseHandler['releaseAll']>,
  signal: AbortSignal,
): Promise<Lease[]> {
  try {
    const left = await releaseAll(due, { signal, now: run.now });
    await giveBack(run.db, run.kind, run.owner, [...left]);
    return due.filter(({ resource_id }) => !left.has(resource_id));
  } catch (error) {
    for (const lease of due) await failed(run, lease, error);
    return [];
  }
}

/** One transaction for the batch. If it fails, each lease gets its own, so that a broken one doesn't hold up the others. */
async function handleBatch(run: Run, leases: readonly Lease[]): Promise<number> {
  if (leases.length === 0) return 0;
  try {
    return await complete(run, leases);
  } catch (error) {
    const [first] = leases;
    if (leases.length === 1 && first) {
      if (!(error instanceof LeaseLost)) await failed(run, first, error);
      return 0;
    }
  }
  let acted = 0;
  for (const lease of leases) acted += await handleBatch(run, [lease]);
  return acted;
}

async function complete({ db, kind, handler, owner, now }: Run, leases: readonly Lease[]): Promise<number> {
  const outcome = await db.$transaction(
    async (tx) => {
      await assertHeld(tx, kind, owner, leases);
      const result = await handler.handle(tx, leases, now);
      await settle(tx, kind, owner, leases, result.next, now);
      return result;
    },
    { maxWait: 5_000, timeout: TRANSACTION_MS },
  );
  outcome.committed?.();
  return outcome.acted;
}

async function failed({ db, kind, owner, now }: Run, lease: Lease, error: unknown): Promise<void> {
  failures.add(kind);
  const retry_at = await postpone(db, kind, owner, lease, now);
  log.error({ err: error, kind, resource_id: lease.resource_id, attempts: lease.attempts + 1, retry_at }, 'a lease could not be handled');
}
