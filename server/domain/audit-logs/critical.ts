import { rowHash, zeroHash } from '#server/crypto/chain.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { sanitiseDetails } from '#server/kernel/sanitise.ts';
import type { CriticalAction, CriticalResource } from './schema.ts';

/** The chain of events that belong to no workspace. */
const OPERATOR_CHAIN = 'operator';

/** Details may hold strings, whole numbers, booleans, null, lists and objects: fractions have no one spelling and are refused. */
export type CriticalEntry = {
  action: CriticalAction;
  resource_type: CriticalResource;
  resource_id: string;
  details?: Record<string, unknown>;
};
export type Appended = { sequence_number: bigint; row_hash: Uint8Array };

/**
 * Appends to the workspace's critical chain, before the change it records and in the change's transaction (interface rule 31 §10.5).
 * Lock order: any other lock of the tenant first, then this one. Isolation READ COMMITTED is enough: the lock comes before the read.
 * @throws Refusal audit_unavailable; it must not be caught, for an act that cannot be recorded does not happen
 */
export async function appendCritical(tx: Tx, ctx: Ctx, entry: CriticalEntry): Promise<Appended> {
  return (await appendAllCritical(tx, ctx, [entry]))[0] as Appended;
}

/** The same for several entries, in their order and in one statement. @throws Refusal audit_unavailable */
export async function appendAllCritical(tx: Tx, ctx: Ctx, entries: readonly CriticalEntry[]): Promise<Appended[]> {
  try {
    return entries.length === 0 ? [] : await append(tx, ctx, entries);
  } catch (error) {
    throw new Refusal('audit_unavailable', "The audit log entry couldn't be written, so the action was not carried out. Try again.", {
      retryAfter: 5,
      cause: error,
    });
  }
}

async function append(tx: Tx, ctx: Ctx, entries: readonly CriticalEntry[]): Promise<Appended[]> {
  const chain_id = ctx.tenant_id || OPERATOR_CHAIN;
  await holdLock(tx, `critical:${chain_id}`);
  const last = await tx.audit_log_critical.findFirst({
    where: { chain_id },
    orderBy: { sequence_number: 'desc' },
    select: { sequence_number: true, row_hash: true },
  });
  let tail: Appended = { sequence_number: last?.sequence_number ?? 0n, row_hash: last?.row_hash ?? zeroHash };
  const rows = entries.map((entry) => {
    const row = {
      chain_id,
      sequence_number: tail.sequence_number + 1n,
      prev_hash: new Uint8Array(tail.row_hash),
      at: ctx.now,
      tenant_id: ctx.tenant_id || null,
      actor_id: ctx.actor.id,
      action: entry.action,
      resource_type: entry.resource_type,
      resource_id: entry.resource_id,
      details: { ...sanitiseDetails(entry.details ?? {}), sandbox: ctx.sandbox },
    };
    const row_hash = new Uint8Array(rowHash(row));
    tail = { sequence_number: row.sequence_number, row_hash };
    return { ...row, row_hash };
  });
  const caller = { ip_address: ctx.ip, user_agent: ctx.user_agent?.slice(0, 256) ?? null, request_id: ctx.request_id || null };
  await tx.audit_log_critical.createMany({ data: rows.map((row) => ({ ...row, ...caller, id: newId() })) });
  return rows.map(({ sequence_number, row_hash }) => ({ sequence_number, row_hash }));
}
