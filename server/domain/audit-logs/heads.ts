import { type ChainKey, headMac, headMacHolds, type SealedHead } from '#server/crypto/chain-seal.ts';
import type { Tx } from '#server/kernel/database.ts';
import { processState } from '#server/kernel/process-state.ts';
import { emptyHead } from './audit-keys.ts';
import { NO_WORKSPACE, OPERATOR_CHAIN } from './chain-ids.ts';
import type { ChainFailureKind } from './schema.ts';

/** `known`: what `highestSeen` said before the head was read. */
export type StoredHead = SealedHead & { mac: Uint8Array; known: bigint };
export type Tail = { sequence_number: bigint; row_hash: Uint8Array } | null;

/** The highest renewal of each head that this process has seen: an older one was put back. */
const seen = processState('audit-heads', () => new Map<string, bigint>());
const MOST_SEEN = 100_000;

/**
 * The highest renewal of a chain's head that this process has seen. Ask before the read, or the snapshot, that brings a head: another one may see a newer head
 * while it's under way, and what was read is not older for it.
 */
export const highestSeen = (chainId: string): bigint => seen.get(chainId) ?? 0n;

/** Remembers a head that is committed: one of a transaction that is rolled back would be a false alarm. The oldest is forgotten first. */
export function rememberHead({ chain_id, epoch }: SealedHead): void {
  if (highestSeen(chain_id) >= epoch) return;
  seen.delete(chain_id);
  seen.set(chain_id, epoch);
  const oldest = seen.keys().next().value;
  if (seen.size > MOST_SEEN && oldest !== undefined) seen.delete(oldest);
}

export type Fault = { kind: ChainFailureKind; sequence: bigint };

/** Whether a head is there, is ours, and is no older one than this process had seen. */
export function faultOfSeal(key: ChainKey, head: StoredHead | null): Fault | null {
  if (!head) return { kind: 'head_missing', sequence: 0n };
  if (!headMacHolds(key, head, head.mac)) return { kind: 'head_invalid', sequence: head.sequence_number };
  return head.epoch < head.known ? { kind: 'rolled_back', sequence: head.sequence_number } : null;
}

/** The same, and the failure that it keeps until an operator accepts it. The MAC covers the name, so it is one that this service gave. */
export function faultOfHead(key: ChainKey, head: StoredHead | null): Fault | null {
  const fault = faultOfSeal(key, head);
  if (fault || !head?.failure) return fault;
  return { kind: head.failure as ChainFailureKind, sequence: head.failed_sequence ?? 0n };
}

/** The same, and whether the chain ends as its head says. */
export function faultOfChain(key: ChainKey, head: StoredHead | null, tail: Tail): Fault | null {
  const fault = faultOfHead(key, head);
  if (fault || !head) return fault;
  const last = tail?.sequence_number ?? 0n;
  if (last < head.sequence_number) return { kind: 'gap', sequence: last + 1n };
  if (last > head.sequence_number) return { kind: 'head_invalid', sequence: last };
  if (tail && Buffer.compare(tail.row_hash, head.row_hash) !== 0) return { kind: 'hash_mismatch', sequence: last };
  return null;
}

/** A head that is to be sealed for a chain as it is, keeping what the one before it says if it was ours. */
export function nextHead(key: ChainKey, before: StoredHead | null, chainId: string, changes: Partial<SealedHead>): SealedHead {
  const kept = before && headMacHolds(key, before, before.mac) ? before : emptyHead(chainId);
  const highest = [kept.epoch, highestSeen(chainId)].reduce((a, b) => (a > b ? a : b));
  const { chain_id, sequence_number, row_hash, baseline, checkpoints, failure, failed_sequence, failed_at, reported } = kept;
  return {
    ...{ chain_id, sequence_number, row_hash, baseline, checkpoints, failure, failed_sequence, failed_at, reported },
    ...changes,
    epoch: highest + 1n,
  };
}

/** The head and the last entry of a chain, in one statement and so of one moment. The caller holds the chain's lock. */
export async function readEnd(tx: Tx, chainId: string): Promise<{ head: StoredHead | null; tail: Tail }> {
  const known = highestSeen(chainId);
  const [row] = await tx.$queryRaw<[(StoredHead & { tail_sequence: bigint | null; tail_hash: Uint8Array | null }) | undefined]>`
    select h.*, t.sequence_number as tail_sequence, t.row_hash as tail_hash from (select 1) one
    left join audit_chain_heads h on h.chain_id = ${chainId}
    left join lateral (select sequence_number, row_hash from audit_log_critical where chain_id = ${chainId} order by sequence_number desc limit 1) t on true`;
  const tail = row?.tail_hash && row.tail_sequence !== null ? { sequence_number: row.tail_sequence, row_hash: row.tail_hash } : null;
  return { head: row?.chain_id ? { ...row, known } : null, tail };
}

/** Seals a head and stores it in place of the one before it. */
export async function writeHead(tx: Tx, key: ChainKey, head: SealedHead): Promise<void> {
  const tenantId = head.chain_id === OPERATOR_CHAIN ? NO_WORKSPACE : head.chain_id;
  await tx.$executeRaw`
    insert into audit_chain_heads (chain_id, tenant_id, sequence_number, row_hash, epoch, baseline, checkpoints, failure, failed_sequence, failed_at, reported, mac)
    values (${head.chain_id}, ${tenantId}::uuid, ${head.sequence_number}, ${new Uint8Array(head.row_hash)}, ${head.epoch}, ${head.baseline}::bigint, ${head.checkpoints},
      ${head.failure}, ${head.failed_sequence}::bigint, ${head.failed_at}::timestamptz, ${head.reported}, ${new Uint8Array(headMac(key, head))})
    on conflict (chain_id) do update set tenant_id = excluded.tenant_id, sequence_number = excluded.sequence_number, row_hash = excluded.row_hash, epoch = excluded.epoch,
      baseline = excluded.baseline, checkpoints = excluded.checkpoints, failure = excluded.failure, failed_sequence = excluded.failed_sequence,
      failed_at = excluded.failed_at, reported = excluded.reported, mac = excluded.mac`;
}
