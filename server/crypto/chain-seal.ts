import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import type { ChainRow } from './chain.ts';
import { hkdf } from './derive.ts';
import { lengthPrefixed } from './length-prefixed.ts';

/** The key that all keys of chains derive from. */
export type ChainKey = KeyObject;

/** A row of the critical chain with the columns that its hash doesn't cover. */
export type StoredChainRow = ChainRow & {
  id: string;
  ip_address: string | null;
  user_agent: string | null;
  request_id: string | null;
  /** Null in a row from before rows had one. */
  mac: Uint8Array | null;
};

/** What a chain must end with, as it is sealed. `baseline` is the entry that seals all entries before it by their digest. */
export type SealedHead = {
  chain_id: string;
  sequence_number: bigint;
  row_hash: Uint8Array;
  epoch: bigint;
  baseline: bigint | null;
  checkpoints: number;
  failure: string | null;
  failed_sequence: bigint | null;
  failed_at: Date | null;
  reported: boolean;
};

/** The columns of a row that its MAC covers, in order. `mac` is the result; `seq` and `txid` only place the row in feeds and are given by the database. */
export const SEALED_COLUMNS = [
  'id',
  'chain_id',
  'sequence_number',
  'prev_hash',
  'row_hash',
  'at',
  'tenant_id',
  'actor_id',
  'action',
  'resource_type',
  'resource_id',
  'details',
  'ip_address',
  'user_agent',
  'request_id',
] as const satisfies readonly (keyof StoredChainRow)[];

/** The columns as length-prefixed fields: numbers as decimal text, times in ISO 8601, details as canonical JSON. Throws TypeError on details it can't hold. */
export function storedRowBytes(row: Omit<StoredChainRow, 'mac'>): Buffer {
  return lengthPrefixed(
    SEALED_COLUMNS.map((column) => (column === 'details' ? canonicalJson(row.details, 'integers') : text(row[column]))),
  );
}

/** HMAC-SHA256 over all columns of a row, under the key of its chain. */
export const rowMac = (key: ChainKey, row: Omit<StoredChainRow, 'mac'>): Buffer =>
  hmacOf(key, row.chain_id).update('SVCCHAINMAC1').update(storedRowBytes(row)).digest();

/** Details that can't be canonical were not written by the service. */
export function rowMacHolds(key: ChainKey, row: StoredChainRow): boolean {
  try {
    return row.mac !== null && equal(row.mac, rowMac(key, row));
  } catch {
    return false;
  }
}

/** A signed head as it is stored. */
export type StoredCheckpoint = {
  id: string;
  chain_id: string;
  sequence_number: bigint;
  row_hash: Uint8Array;
  signature: Uint8Array;
  key_id: string;
  created_at: Date;
};

/** Lower-case hex SHA-256 of rows with all their columns: what a baseline entry says of everything before it. */
export async function historyDigest(rows: AsyncIterable<StoredChainRow>): Promise<string> {
  const sum = createHash('sha256').update('SVCCHAINPAST1');
  for await (const row of rows) sum.update(lengthPrefixed([anyRowBytes(row), row.mac]));
  return sum.digest('hex');
}

/** An operator may accept rows whose details were altered beyond what canonical JSON can hold. */
function anyRowBytes(row: StoredChainRow): Buffer {
  try {
    return storedRowBytes(row);
  } catch {
    return storedRowBytes({ ...row, details: JSON.stringify(row.details) });
  }
}

/** HMAC-SHA256 over a head, under the key of its chain. */
export const headMac = (key: ChainKey, head: SealedHead): Buffer =>
  hmacOf(key, head.chain_id)
    .update('SVCCHAINHEAD1')
    .update(
      lengthPrefixed([
        head.chain_id,
        String(head.sequence_number),
        head.row_hash,
        String(head.epoch),
        text(head.baseline),
        String(head.checkpoints),
        head.failure,
        text(head.failed_sequence),
        text(head.failed_at),
        String(head.reported),
      ]),
    )
    .digest();

export const headMacHolds = (key: ChainKey, head: SealedHead, mac: Uint8Array): boolean => equal(mac, headMac(key, head));

/** One key per chain, so that no MAC of one workspace holds in another (HKDF-SHA256, RFC 5869). */
const hmacOf = (key: ChainKey, chainId: string) => createHmac('sha256', hkdf(key, Buffer.alloc(0), `svc/audit-chain/v1:${chainId}`));

const equal = (a: Uint8Array, b: Uint8Array) => a.byteLength === b.byteLength && timingSafeEqual(a, b);

function text(value: string | bigint | Date | Uint8Array | null): string | Uint8Array | null {
  if (value === null || value instanceof Uint8Array) return value;
  return value instanceof Date ? value.toISOString() : String(value);
}
