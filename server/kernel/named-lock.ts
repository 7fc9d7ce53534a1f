import type { Tx } from './tx.ts';

/** Waits until no other transaction holds the lock of this name, and holds it to the end of this one. Names are of the whole deployment: put the workspace in. */
export const holdLock = (tx: Tx, name: string): Promise<number> =>
  tx.$executeRaw`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
