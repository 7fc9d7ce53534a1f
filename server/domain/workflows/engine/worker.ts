import { newId } from '#server/kernel/ids.ts';
import { openPool } from '#server/platform/healing-pool.ts';
import { log } from '#server/platform/log.ts';
import { startLoop } from '#server/platform/loop.ts';
import { listen } from '#server/platform/notify.ts';
import { connection } from '#server/platform/sql.ts';
import { drive } from './drive.ts';
import type { Held } from './drive-state.ts';
import { monthlyMeter } from './metering.ts';
import { claim, giveBack, renew, statuses } from './store.ts';

export type Workflows = { /** Gives running executions back: another worker goes on with them. */ stop(): Promise<void> };

type Options = {
  /** Executions at a time in this process. */
  concurrency?: number;
  /** Milliseconds between looks at an empty queue; new executions are announced anyway. */
  pauseMs?: number;
  /** For timers only. Locks run on the database's own clock. */
  clock?: () => Date;
};

const RENEW_MS = 15_000;
const LOOK_MS = 1_000;

/**
 * Runs executions until stopped, each node at least once. It has its own loop and connections, apart from the job queue: servers that hang delay other
 * runs at most. Timers hold neither a worker nor a connection.
 */
export function startWorkflows({ concurrency = 200, pauseMs = 1_000, clock = () => new Date() }: Options = {}): Workflows {
  const owner = newId();
  const pool = openPool({ ...connection(), max: 6, application_name: 'sallyport-workflows' });
  const held = new Map<string, Held>();
  const running = new Set<Promise<void>>();
  const tools = { pool, owner, meter: monthlyMeter(clock), clock };

  const loop = startLoop('running workflows', pauseMs, async () => {
    const free = concurrency - held.size;
    const due = free > 0 ? await claim(pool, owner, free, clock()) : [];
    for (const execution of due) {
      const one: Held = { execution, abandoned: new AbortController(), cancel: () => {} };
      held.set(execution.id, one);
      // A failed write leaves the execution locked: it is taken over when the lock has run out.
      const task = drive(one, tools)
        .catch((error: unknown) => log.warn({ err: error, execution_id: execution.id }, 'an execution was not carried on'))
        .finally(() => {
          held.delete(execution.id);
          running.delete(task);
          loop.wake();
        });
      running.add(task);
    }
    return due.length > 0 && due.length === free;
  });

  let renewed = Date.now();
  const leases = startLoop('holding workflows', LOOK_MS, async () => {
    const ids = [...held.keys()];
    if (ids.length === 0) return false;
    const renews = Date.now() - renewed >= RENEW_MS;
    const found = renews ? await renew(pool, owner, ids) : await statuses(pool, owner, ids);
    if (renews) renewed = Date.now();
    for (const id of ids) {
      const status = found.get(id);
      if (status === undefined) held.get(id)?.abandoned.abort();
      else if (status === 'cancelling') held.get(id)?.cancel();
    }
    return false;
  });
  // New executions don't wait for a tick. Without this connection the loop's own pace has to do.
  const ears = listen({ channels: ['workflow_executions'], onMessage: () => loop.wake(), onConnect: () => loop.wake() });

  return {
    async stop() {
      await Promise.all([loop.stop(), leases.stop(), ears.close()]);
      for (const { abandoned } of held.values()) abandoned.abort();
      await Promise.all(running);
      await giveBack(pool, owner).catch(() => {});
      await pool.end();
    },
  };
}
