import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { ClickHouseError, hasClickHouse } from '#server/platform/clickhouse.ts';
import { log } from '#server/platform/log.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';

/**
 * The calls of one space that are read from ClickHouse: those up to `cut`, from `kept_from` on, none later than `until`. PostgreSQL is asked for the others.
 * Only `pastOf` makes one, and every statement to ClickHouse is made for one (reading.ts).
 */
export type Past = {
  readonly tenant_id: string;
  readonly sandbox: boolean;
  readonly store: string;
  readonly cut: bigint;
  readonly until: Date;
  readonly kept_from: Date;
};

const STATE = ownQuery(
  'log-history',
  `select h.store, h.cut::text as cut, h.cut_until, (select f.kept_from from request_log_floors f where f.tenant_id = $1 and f.sandbox = $2) as kept_from
    from request_log_history h where h.cut > 0`,
);
type State = { store: string; cut: string; cut_until: Date; kept_from: Date | null };

/** A time, or an ID that the call has to be above. */
type From = string | Date | bigint | undefined;

/** The space's calls in ClickHouse; null when there are none, or none from `from` on. */
export async function pastOf(ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>, from?: From): Promise<Past | null> {
  if (!hasClickHouse()) return null;
  const [state] = await ownRows<State>(ctx, STATE);
  if (!state) return null;
  if (from !== undefined && (typeof from === 'bigint' ? from >= BigInt(state.cut) : new Date(from) > state.cut_until)) return null;
  return {
    tenant_id: ctx.tenant_id,
    sandbox: ctx.sandbox,
    store: state.store,
    cut: BigInt(state.cut),
    until: state.cut_until,
    kept_from: state.kept_from ?? new Date(0),
  };
}

/**
 * Reads calls from both stores: `work` gets what is in ClickHouse, or null when PostgreSQL has all that is asked for. While ClickHouse is down it runs again
 * for what PostgreSQL has, and the answer says that it is not everything.
 */
export async function withPast<T>(ctx: Ctx, from: From, work: (past: Past | null) => Promise<T>): Promise<T> {
  const past = await pastOf(ctx, from);
  if (!past) return work(null);
  const warnings = ctx.warnings.length;
  try {
    return await work(past);
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error;
    log.warn({ err: error }, 'reading older calls failed');
    ctx.warnings.length = warnings;
    ctx.warnings.push(`The store of older calls can't be reached. Calls before ${past.until.toISOString()} may be missing.`);
    return work(null);
  }
}

/** The same where less than everything would mislead: a feed that passed over calls, a file that ends early. @throws Refusal dependency_unavailable */
export async function withAllOfPast<T>(
  ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>,
  from: From,
  work: (past: Past | null) => Promise<T>,
): Promise<T> {
  try {
    return await work(await pastOf(ctx, from));
  } catch (error) {
    throw error instanceof ClickHouseError ? pastUnavailable(error) : error;
  }
}

export function pastUnavailable(error: ClickHouseError): Refusal {
  log.warn({ err: error }, 'reading older calls failed');
  return new Refusal('dependency_unavailable', "The store of older calls can't be reached. Try again in a minute.", { retryAfter: 30 });
}

/** For figures that are made of rows, and only of those in PostgreSQL: says so when they leave any out. */
export async function tellOfPast(ctx: Ctx, from: Date, what: string): Promise<void> {
  const past = await pastOf(ctx, from);
  if (past) ctx.warnings.push(`${what} only cover calls after ${past.until.toISOString()}.`);
}
