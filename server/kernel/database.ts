import { isRetryableConflict } from './conflicts.ts';
import { type Ctx, makerOf } from './context.ts';
import { patience, runInFairQueue } from './fair-queue.ts';
import { sqlStateOf } from './outage.ts';
import type { Db, Tx } from './tx.ts';

// Both types live in tx.ts because a context holds a client and a transaction.
export type { Db, Tx };

/**
 * Reads of one workspace and space. The transaction runs under the row-level-security role with this tenant and space set,
 * so a query that forgot its `own(ctx)` still sees nothing foreign (interface rule 64 §3.3).
 */
export function read<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> {
  return inTransaction(ctx, work, { timeout: 20_000, changes: false });
}

/** Maximum attempts after a conflict with another transaction. */
const MAX_ATTEMPTS = 4;
/** A change of 100,000 rows takes half of it. Idempotency claims and the front door wait twice as long. */
export const CHANGE_MS = 60_000;

/**
 * Joins the transaction of the current idempotent call or opens one, inside the row-level-security context. After a conflict with another transaction
 * (a deadlock, a serialization failure, a broken foreign key or unique index) the work runs again from the start, sees the other's changes, and either
 * succeeds or is refused for its own reason. `work` must have no effect that a rollback doesn't undo.
 */
export async function inTransaction<T>(
  ctx: Ctx,
  work: (tx: Tx) => Promise<T>,
  { timeout, changes } = { timeout: CHANGE_MS, changes: true },
): Promise<T> {
  if (ctx.tx) return work(ctx.tx);
  const warnings = ctx.warnings.length;
  const used = ctx.step_up?.used ?? null;
  for (let attempt = 1; ; attempt++) {
    try {
      return await runInFairQueue(ctx.tenant_id, () =>
        ctx.db.$transaction(
          async (tx) => {
            await enter(tx, ctx);
            if (changes && ctx.sandbox) await withSharedTestLock(tx, ctx);
            return work(tx);
          },
          { maxWait: patience.ms, timeout },
        ),
      );
    } catch (error) {
      if (ctx.step_up) ctx.step_up.used = used; // given back by the rollback
      if (attempt === MAX_ATTEMPTS || !isRetryableConflict(error)) throw error;
      ctx.warnings.length = warnings;
      if (ctx.expects?.state === 'met') ctx.expects.state = 'open';
    }
  }
}

/**
 * Sets the row-level-security context and the planner's settings for the rest of the transaction. One workspace's rows come from indexes: starting
 * parallel workers takes longer than reading them, and random pages cost little more than sequential ones in memory or on an SSD. Every statement is
 * planned for its own workspace: a generic plan made for ten rows scans all of a hundred thousand. What the caller makes is noted as made by them.
 */
export async function enter(tx: Tx, ctx: Pick<Ctx, 'tenant_id' | 'sandbox' | 'actor'>): Promise<void> {
  await tx.$queryRaw`select set_config('app.tenant_id', ${ctx.tenant_id}, true), set_config('app.sandbox', ${String(ctx.sandbox)}, true), set_config('role', 'sallyport_app', true),
    set_config('app.maker', ${makerOf(ctx.actor) ?? ''}, true), set_config('max_parallel_workers_per_gather', '0', true), set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_custom_plan', true)`;
}

/** A statement that was ended by `limitStatements`. Anything else may end one as well, an operator for example, which is an outage and no fault of the caller. */
export class StatementTooSlow extends Error {}

/** Runs the rest of the transaction with statements that may take no longer than this: what a caller composes may cost anything. @throws StatementTooSlow */
export async function limitStatements<T>(tx: Tx, ms: number, work: () => Promise<T>): Promise<T> {
  await tx.$queryRaw`select set_config('statement_timeout', ${String(ms)}, true)`;
  return work().catch((error: unknown) => {
    throw sqlStateOf(error) === '57014' ? new StatementTooSlow(`a statement took longer than ${ms} ms`, { cause: error }) : error;
  });
}

/** Changes of Test run concurrently with each other, but never with its reset. Taken before any row lock, so that it can't be part of a deadlock. */
const withSharedTestLock = (tx: Tx, ctx: Ctx) =>
  tx.$queryRaw`select pg_advisory_xact_lock_shared(hashtextextended(${testLockName(ctx)}, 0))::text`;
/** Waits for changes of Test that are in progress and blocks further ones until the end of the transaction. */
export const withExclusiveTestLock = (tx: Tx, ctx: Ctx) =>
  tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${testLockName(ctx)}, 0))::text`;

const testLockName = ({ tenant_id }: Ctx) => `${tenant_id}:test`;
