import type { SealedHead } from '#server/crypto/chain-seal.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { type AuditKeys, AuditKeysUnavailable, auditKeys, emptyHead, markSealed, replaceLostKeys, storedAuditKeys } from './audit-keys.ts';
import { isChainId, OPERATOR_CHAIN } from './chain-ids.ts';
import { type CriticalEntry, insertEntries } from './entry-rows.ts';
import { nextHead, readEnd, type Tail, writeHead } from './heads.ts';
import { checkpointsOf, foreignRow, inSnapshot } from './stored-chain.ts';
import { digestBefore, judgeUnsealed, verifyCritical } from './verify.ts';

/** A chain of a year's anchors is read in a second or two. */
const PATIENCE = { maxWait: 10_000, timeout: 600_000 };

/** While machines of the release before, which know no heads, may still write: from when the first of this release started. */
const UPGRADE_MS = 24 * 3_600_000;
const SEALING = 'audit-chains-sealing';

/** The empty head of a new workspace's chain, in the transaction that creates the workspace: from then on a chain without one was tampered with. */
export async function openChain(tx: Tx, tenantId: string): Promise<void> {
  let keys = await auditKeys();
  if (!keys.sealed) {
    await holdLock(tx, SEALING);
    keys = await storedAuditKeys();
  }
  if (keys.sealed) await writeHead(tx, keys.mac, emptyHead(tenantId));
}

/** Gives every chain from before heads existed its first one, once, a day after the upgrade began. @returns chains sealed */
export async function sealChains(now: Date): Promise<number> {
  const keys = await storedAuditKeys();
  if (keys.sealed || now.getTime() < keys.made.getTime() + UPGRADE_MS) return 0;
  const sealed = await sealAll(now);
  // Those that were created meanwhile; whoever creates a workspace now waits for the mark.
  return db().$transaction(async (tx) => {
    await holdLock(tx, SEALING);
    const more = await sealAll(now);
    await markSealed();
    return sealed + more;
  }, PATIENCE);
}

async function sealAll(now: Date): Promise<number> {
  let sealed = 0;
  for (const chainId of (await chainIds()).filter(isChainId)) if (await sealUnsealed(chainId, now)) sealed++;
  return sealed;
}

/** Every chain there must be, and those that only rows, heads or checkpoints name. */
export async function chainIds(): Promise<string[]> {
  const { rows } = await sql().query<{ chain_id: string }>(
    `select $1 as chain_id union select id::text from tenants union select chain_id from audit_chain_heads union select chain_id from audit_checkpoints
     union select distinct chain_id from audit_log_critical`,
    [OPERATOR_CHAIN],
  );
  return rows.map(({ chain_id }) => chain_id);
}

/**
 * The first head of a chain from before heads existed. Its entries have no MAC, so an entry with their digest seals them; what doesn't hold by links and
 * checkpoints is kept as a failure.
 */
async function sealUnsealed(chainId: string, now: Date): Promise<boolean> {
  const keys = await auditKeys();
  const { rows } = await sql().query('select from audit_chain_heads where chain_id = $1', [chainId]);
  if (rows.length > 0) return false;
  return db().$transaction(async (tx) => {
    await holdLock(tx, `critical:${chainId}`);
    const { head, tail } = await readEnd(tx, chainId);
    if (head) return false;
    const { failure } = await inSnapshot((reader) => judgeUnsealed(reader, keys, chainId, { from: 1n, to: undefined }));
    const kept = failure ? { failure: failure.kind, failed_sequence: BigInt(failure.sequence_number), failed_at: now } : {};
    const ctx = systemContext(db(), { tenant_id: chainId === OPERATOR_CHAIN ? '' : chainId, now, label: 'audit chain upgrade' });
    const end = tail
      ? await insertBaseline(tx, ctx, keys, { chainId, tail, action: 'audit_chain.seal', details: { ...kept, failed_at: null } })
      : {};
    const checkpoints = (await checkpointsOf(chainId, sql())).length;
    await writeHead(tx, keys.mac, nextHead(keys.mac, null, chainId, { ...end, ...kept, checkpoints }));
    if (tail)
      log.warn(
        { chain_id: chainId, entries: String(tail.sequence_number) },
        'critical audit entries from before MACs were sealed by their digest',
      );
    return true;
  }, PATIENCE);
}

/**
 * An operator accepts a chain as it is: an entry says what failed and seals all entries before it by their digest. Checkpoints that signed another chain go.
 * @throws Refusal conflict when the chain holds, or a row of no chain names the workspace
 */
export async function acceptChain(ctx: Ctx, { reason }: { reason: string }) {
  const chainId = ctx.tenant_id || OPERATOR_CHAIN;
  const keys = await storedAuditKeys().catch((error: unknown) => {
    if (error instanceof AuditKeysUnavailable) return replaceLostKeys();
    throw error;
  });
  if ((await foreignRow(chainId, sql())) !== null)
    throw new Refusal(
      'conflict',
      'A row of audit_log_critical has the tenant_id of this workspace and another chain_id. Keep a copy of it, remove it with the triggers of the table disabled, then try again.',
    );
  const { valid, failure } = await verifyCritical(chainId);
  if (valid) throw new Refusal('conflict', 'The critical chain verifies. There is no failure to accept.');
  await db().$transaction(async (tx) => {
    await holdLock(tx, `critical:${chainId}`);
    const { head, tail } = await readEnd(tx, chainId);
    const { count } = await tx.audit_checkpoints.deleteMany({ where: { chain_id: chainId } });
    const details = { failure: failure?.kind, failed_sequence: failure?.sequence_number, checkpoints_removed: count, reason };
    const end = await insertBaseline(tx, ctx, keys, { chainId, tail, action: 'audit_chain.accept', details });
    const none = { checkpoints: 0, failure: null, failed_sequence: null, failed_at: null, reported: false };
    await writeHead(tx, keys.mac, nextHead(keys.mac, head, chainId, { ...end, ...none }));
  }, PATIENCE);
  return { accepted: failure, ...(await verifyCritical(chainId)) };
}

type NewBaseline = { chainId: string; tail: Tail; action: 'audit_chain.seal' | 'audit_chain.accept'; details: Record<string, unknown> };

/** The entry that seals all before it, and what the head says of it. The caller holds the chain's lock. */
async function insertBaseline(
  tx: Tx,
  ctx: Ctx,
  keys: AuditKeys,
  { chainId, tail, action, details }: NewBaseline,
): Promise<Partial<SealedHead>> {
  const sequence = (tail?.sequence_number ?? 0n) + 1n;
  const digest = await digestBefore(sql(), chainId, sequence);
  const entry: CriticalEntry = {
    action,
    resource_type: 'audit_chain',
    resource_id: chainId,
    details: { ...details, entries_before: String(sequence - 1n), digest },
  };
  const [end] = await insertEntries(tx, ctx, [entry], { chainId, tail, keys });
  return { ...end, baseline: sequence };
}
