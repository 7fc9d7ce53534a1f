import { Refusal } from './errors.ts';
import type { Tx } from './tx.ts';

/**
 * What an edit of the dashboard expects: the row is still as it was when the person began (interface rule 70 §3.5). `mutate` meets it
 * inside the transaction, with the row locked, before the verb does anything.
 */
export type Expectation = {
  updated_at: Date;
  /** Locks the edited row until the transaction ends. @throws Refusal not_found */
  row: (tx: Tx) => Promise<{ updated_at: Date }>;
  /** `open` until a `mutate` looked; `stale` when somebody else was faster. */
  state: 'open' | 'met' | 'stale';
};

/**
 * Refuses when the row changed since, and moves a clock that has not passed the row's time yet: two versions of a row never share a time.
 * Does nothing for calls that expect nothing (every call on /v1: last write wins).
 */
export async function assertUnmodified(tx: Tx, ctx: { now: Date; expects?: Expectation }): Promise<void> {
  const { expects } = ctx;
  if (expects?.state !== 'open') return;
  const row = await expects.row(tx);
  if (row.updated_at.getTime() !== expects.updated_at.getTime()) {
    expects.state = 'stale';
    throw new Refusal('conflict', 'Someone else changed this while you were editing. Compare both versions, then save again.', {
      extra: { current_updated_at: row.updated_at.toISOString() },
    });
  }
  expects.state = 'met';
  advanceClock(ctx, row);
}

/**
 * Moves the clock of a change behind the last one of its row. Changes of one row queue up and may be made in another order than they began in, and by
 * processes whose clocks differ: its history is told in the order it happened.
 */
export function advanceClock(ctx: { now: Date }, row: { updated_at: Date }): void {
  if (ctx.now <= row.updated_at) ctx.now = new Date(row.updated_at.getTime() + 1);
}
