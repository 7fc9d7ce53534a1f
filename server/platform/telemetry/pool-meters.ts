import type { Pool } from 'pg';
import { processState } from '#server/kernel/process-state.ts';
import { observe } from './meters.ts';

const pools = processState('watched-pools', () => new Map<string, Pool>());

/** Has the connections of a pool counted under a name; another pool of that name takes its place. */
export function watchPool(name: string, pool: Pool): Pool {
  pools.set(name, pool);
  return pool;
}

/** Connections of every watched pool: taken, idle, and callers that wait for one. Returns what ends it. */
export const measurePools = (): (() => void) =>
  observe('gauge', { name: 'sallyport_database_connections', help: 'Connections to the database, and calls that wait for one' }, () =>
    [...pools].flatMap(([pool, { totalCount, idleCount, waitingCount }]) =>
      Object.entries({ used: totalCount - idleCount, idle: idleCount, waiting: waitingCount }).map(([state, value]) => ({
        labels: { pool, state },
        value,
      })),
    ),
  );
