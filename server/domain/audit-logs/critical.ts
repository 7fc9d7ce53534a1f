import type { SealedHead } from '#server/crypto/chain-seal.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { inBackground } from '#server/platform/background.ts';
import { log } from '#server/platform/log.ts';
import { addJob } from '#server/platform/queue.ts';
import { type AuditKeys, AuditKeysUnavailable, auditKeys, storedAuditKeys } from './audit-keys.ts';
import { OPERATOR_CHAIN } from './chain-ids.ts';
import { type Appended, type CriticalEntry, insertEntries } from './entry-rows.ts';
import { faultOfChain, faultOfSeal, nextHead, readEnd, type StoredHead, type Tail, writeHead } from './heads.ts';

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
  const chainId = ctx.tenant_id || OPERATOR_CHAIN;
  const keys = await keysOrNone(chainId);
  await holdLock(tx, `critical:${chainId}`);
  const { head, tail } = await readEnd(tx, chainId);
  const rows = await insertEntries(tx, ctx, entries, { chainId, tail, keys });
  const end = rows.at(-1);
  // Without a head from before heads existed: the worker seals the chain once no machine of the release before is left.
  if (!keys || !end || (!head && !keys.sealed)) return rows;
  const failed = await newFailure(ctx, keys, { chainId, head, tail });
  await writeHead(tx, keys.mac, nextHead(keys.mac, head, chainId, { ...end, ...failed }));
  return rows;
}

/** Who lost the keys must not lock customers out: entries go on without MACs, and verification fails until an operator looks. */
async function keysOrNone(chainId: string): Promise<AuditKeys | null> {
  try {
    return await auditKeys();
  } catch (error) {
    if (!(error instanceof AuditKeysUnavailable)) throw error;
    log.fatal({ err: error, chain_id: chainId }, 'a critical audit entry is written without a MAC: run verify-chains, then accept-chain');
    return null;
  }
}

/** A failure that this append is the first to notice; the chain keeps it, and the worker verifies and reports it. */
async function newFailure(
  ctx: Ctx,
  keys: AuditKeys,
  { chainId, head, tail }: { chainId: string; head: StoredHead | null; tail: Tail },
): Promise<Partial<SealedHead>> {
  if (head?.failure && !faultOfSeal(keys.mac, head)) return {}; // kept already
  const fault = faultOfChain(keys.mac, head, tail);
  if (!fault) return {};
  // An operator may have replaced lost keys meanwhile: this process must not go on with the old ones.
  const fresh = await storedAuditKeys().catch(() => keys);
  if (!fresh.mac.equals(keys.mac)) throw new Error('the keys of the audit log were replaced; the next attempt uses the new ones');
  log.fatal({ chain_id: chainId, failure: fault.kind, at: String(fault.sequence) }, 'critical audit chain does not end as its head says');
  // Beside the transaction: a queue that is down must not stop the entry. The nightly run finds it otherwise.
  inBackground('verify chains', () => addJob(null, 'verify_chains', {}, { job_key: 'verify_chains' }));
  return { failure: fault.kind, failed_sequence: fault.sequence, failed_at: ctx.now };
}
