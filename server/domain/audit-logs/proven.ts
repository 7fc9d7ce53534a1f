import { rowHash, verifyChain } from '#server/crypto/chain.ts';
import { rowMacHolds, type StoredChainRow } from '#server/crypto/chain-seal.ts';
import { type AuditKeys, AuditKeysUnavailable, storedAuditKeys } from './audit-keys.ts';
import { faultOfHead, highestSeen } from './heads.ts';
import { chainRowAt, chainRows, headOf, inSnapshot, type Reader } from './stored-chain.ts';
import { baselineEntry } from './verify.ts';

/**
 * An entry of a chain that is what the service wrote: by its MAC, or, if it is from before entries had one, by the links from it to the entry that seals it.
 * Undefined for any other, and while the chain keeps a failure.
 */
export async function provenEntry(chainId: string, sequence: bigint): Promise<StoredChainRow | undefined> {
  try {
    const keys = await storedAuditKeys();
    const known = highestSeen(chainId);
    return await inSnapshot((reader) => proven(reader, keys, { chainId, sequence, known }));
  } catch (error) {
    if (error instanceof AuditKeysUnavailable) return undefined;
    throw error;
  }
}

async function proven(
  reader: Reader,
  keys: AuditKeys,
  { chainId, sequence, known }: { chainId: string; sequence: bigint; known: bigint },
): Promise<StoredChainRow | undefined> {
  const row = await chainRowAt(chainId, sequence, reader);
  if (!row) return undefined;
  const head = await headOf(chainId, reader, known);
  if (!head && !keys.sealed) return row.mac === null ? hashed(row) : sealed(keys, row); // the worker seals it a day after the upgrade
  if (!head || faultOfHead(keys.mac, head)) return undefined; // a chain that failed proves nothing until an operator has accepted it
  if (row.mac !== null) return sealed(keys, row);
  if (head.baseline === null || head.baseline <= sequence) return undefined;
  const baseline = await baselineEntry(reader, keys, head);
  const before = { sequence_number: sequence - 1n, row_hash: row.prev_hash };
  const { valid, last } = await verifyChain(chainRows(chainId, sequence, head.baseline, reader), before);
  return baseline && valid && last === String(head.baseline) ? row : undefined;
}

const sealed = (keys: AuditKeys, row: StoredChainRow) => (rowMacHolds(keys.mac, row) ? row : undefined);

function hashed(row: StoredChainRow): StoredChainRow | undefined {
  try {
    return rowHash(row).equals(row.row_hash) ? row : undefined;
  } catch {
    return undefined; // details that can't be canonical
  }
}
