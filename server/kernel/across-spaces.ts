import { type Ctx, spaceOf } from './context.ts';
import { CHANGE_MS, enter, inTransaction } from './database.ts';
import { type Audited, writeAudits } from './mutate.ts';
import { takeStepUp } from './step-up.ts';
import type { Tx } from './tx.ts';

/**
 * Works in one space of the workspace; what it wrote is audited there. `unchanged` is for a look alone. One at a time: the space is a setting of the
 * whole transaction, so work that overlapped would write into the other space.
 */
export type Within = <T>(sandbox: boolean, work: (tx: Tx, ctx: Ctx) => Promise<Audited<T>>) => Promise<T>;

/**
 * The one place where a transaction meets both spaces of a workspace (interface rule 64 §5). It never sees them together: row-level security shows the
 * space of the work that runs, and between two works none at all, so a statement that forgot its `own(ctx)` still cannot carry a row across.
 * @throws whatever the work throws; nothing is kept then, in either space
 */
export function acrossSpaces<T>(ctx: Ctx, work: (within: Within, tx: Tx) => Promise<T>): Promise<T> {
  if (ctx.tx) throw new Error('a call that works in both spaces runs in a transaction of its own');
  const both = async (tx: Tx) => {
    let busy = false;
    // The role that row-level security binds, before the first look.
    await enter(tx, ctx);
    await takeStepUp(tx, ctx);
    await leave(tx);
    return work(async (sandbox, inside) => {
      if (busy) throw new Error('two spaces of one transaction at the same time');
      busy = true;
      const there = { ...ctx, sandbox };
      await enter(tx, there);
      const { value, entries } = await inside(tx, there);
      await writeAudits(tx, there, entries);
      if (entries.length > 0) ctx.changed = [...new Set([...(ctx.changed ?? []), spaceOf(sandbox)])];
      await leave(tx);
      busy = false;
      return value;
    }, tx);
  };
  // What reset does, nothing may run beside; what moves between the spaces takes turns with it by a lock of its own.
  return inTransaction(ctx, both, { timeout: CHANGE_MS, changes: false });
}

const leave = (tx: Tx) => tx.$queryRaw`select set_config('app.sandbox', '', true)`;
