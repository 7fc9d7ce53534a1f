import { isOvertaken } from './conflicts.ts';
import type { Ctx } from './context.ts';
import { inFairTurn } from './turns.ts';
import type { Db, Tx } from './tx.ts';

// A context holds a client and a transaction, so their types stand before both.
export type { Db, Tx };

/**
 * Reads of one workspace and space. The transaction runs under the row-level-security role with this tenant and space set,
 * so a query that forgot its `own(ctx)` still sees nothing foreign (interface rule 64 §3.3).
 */
export function read<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> {
  return inTransaction(ctx, work, { timeout: 20_000, changes: false });
}

/** So often work is begun again that another transaction overtook. */
const TRIES = 4;
/** A change of a hundred thousand rows needs half of it; the claim of an idempotent call and the front door wait twice as long. */
export const CHANGE_MS = 60_000;

/**
 * The transaction of the idempotent call this is part of, or a new one, inside the row-level-security context. Work that another transaction overtook
 * (what it refers to is gone, what it makes is there, each waits for the other) is done again from the start and then sees what the other one did: it
 * is refused in its own words, or succeeds. So `work` does nothing that a rollback would not undo.
 */
export async function inTransaction<T>(
  ctx: Ctx,
  work: (tx: Tx) => Promise<T>,
  { timeout, changes } = { timeout: CHANGE_MS, changes: true },
): Promise<T> {
  if (ctx.tx) return work(ctx.tx);
  const told = ctx.warnings.length;
  for (let tried = 1; ; tried++) {
    try {
      return await inFairTurn(ctx.tenant_id, () =>
        ctx.db.$transaction(
          async (tx) => {
            await enter(tx, ctx);
            if (changes && ctx.sandbox) await besideOthers(tx, ctx);
            return work(tx);
          },
          { maxWait: 5_000, timeout },
        ),
      );
    } catch (error) {
      if (tried === TRIES || !isOvertaken(error)) throw error;
      ctx.warnings.length = told;
      if (ctx.expects?.state === 'met') ctx.expects.state = 'open';
    }
  }
}

/**
 * Sets the row-level-security context for the rest of the transaction. One workspace's rows come from indexes: helpers of a parallel scan take longer
 * to start than that lasts, and pages out of order cost little more than pages in order, in memory or on a solid-state disk. Every statement is planned
 * for its own workspace: a plan kept from a workspace of ten rows reads all of one with a hundred thousand.
 */
export async function enter(tx: Tx, ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>): Promise<void> {
  await tx.$queryRaw`select set_config('app.tenant_id', ${ctx.tenant_id}, true), set_config('app.sandbox', ${String(ctx.sandbox)}, true), set_config('role', 'sallyport_app', true),
    set_config('max_parallel_workers_per_gather', '0', true), set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_custom_plan', true)`;
}

/**
 * Changes of Test run beside each other, but none beside its reset: that would delete what they are about to refer to. Taken before any row is locked, so
 * that nobody waits in a circle.
 */
const besideOthers = (tx: Tx, ctx: Ctx) =>
  tx.$queryRaw`select pg_advisory_xact_lock_shared(hashtextextended(${changesOfTest(ctx)}, 0))::text`;
/** Waits for every change of Test that is under way, and holds up the next ones until the end of the transaction. */
export const aloneInTest = (tx: Tx, ctx: Ctx) =>
  tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${changesOfTest(ctx)}, 0))::text`;

const changesOfTest = ({ tenant_id }: Ctx) => `${tenant_id}:test`;
