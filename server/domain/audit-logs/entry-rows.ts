import { rowHash, zeroHash } from '#server/crypto/chain.ts';
import { rowMac } from '#server/crypto/chain-seal.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { sanitiseDetails } from '#server/kernel/sanitise.ts';
import type { AuditKeys } from './audit-keys.ts';
import type { Tail } from './heads.ts';
import type { CriticalAction, CriticalResource } from './schema.ts';

/** Details may hold strings, whole numbers, booleans, null, lists and objects: fractions have no one spelling and are refused. */
export type CriticalEntry = {
  action: CriticalAction;
  resource_type: CriticalResource;
  resource_id: string;
  details?: Record<string, unknown>;
};
export type Appended = { sequence_number: bigint; row_hash: Uint8Array };

/** Rows after the last one there is, whatever a head says: the database allows no other. Without keys they have no MAC, which verification reports. */
export async function insertEntries(
  tx: Tx,
  ctx: Ctx,
  entries: readonly CriticalEntry[],
  { chainId, tail, keys }: { chainId: string; tail: Tail; keys: AuditKeys | null },
): Promise<Appended[]> {
  let last: Appended = tail ?? { sequence_number: 0n, row_hash: zeroHash };
  const rows = entries.map((entry) => {
    const row = {
      id: newId(),
      chain_id: chainId,
      sequence_number: last.sequence_number + 1n,
      prev_hash: new Uint8Array(last.row_hash),
      at: ctx.now,
      tenant_id: ctx.tenant_id || null,
      actor_id: ctx.actor.id,
      action: entry.action,
      resource_type: entry.resource_type,
      resource_id: entry.resource_id,
      details: { ...sanitiseDetails(entry.details ?? {}), sandbox: ctx.sandbox },
      ip_address: ctx.ip,
      user_agent: ctx.user_agent?.slice(0, 256) ?? null,
      request_id: ctx.request_id || null,
    };
    const row_hash = new Uint8Array(rowHash(row));
    last = { sequence_number: row.sequence_number, row_hash };
    const sealed = { ...row, row_hash };
    return { ...sealed, mac: keys && new Uint8Array(rowMac(keys.mac, sealed)) };
  });
  await tx.audit_log_critical.createMany({ data: rows });
  return rows.map(({ sequence_number, row_hash }) => ({ sequence_number, row_hash }));
}
