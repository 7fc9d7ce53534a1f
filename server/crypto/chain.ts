import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import { lengthPrefixed } from './length-prefixed.ts';

/** What one row of the critical audit chain says, without its own hash (interface rule 31 §10.2). */
export type ChainEntry = {
  /** Tenant id, or `operator`. */
  chain_id: string;
  /** 1, 2, 3, … within the chain. */
  sequence_number: bigint;
  /** row_hash of the row before; 32 zero bytes for the first. */
  prev_hash: Uint8Array;
  at: Date;
  tenant_id: string | null;
  actor_id: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  /** Strings, integers, booleans, null, arrays and objects; a fraction is refused with a TypeError. */
  details: unknown;
};
export type ChainRow = ChainEntry & { row_hash: Uint8Array };

export type ChainFailure<Kind extends string = never> = { sequence_number: string; kind: 'hash_mismatch' | 'prev_mismatch' | 'gap' | Kind };
export type ChainVerdict<Kind extends string = never> = {
  valid: boolean;
  checked: number;
  first: string | null;
  last: string | null;
  head_hash: string | null;
  failure: ChainFailure<Kind> | null;
};

/** prev_hash of the first row of a chain. */
export const zeroHash: Uint8Array<ArrayBuffer> = new Uint8Array(32);

/** The bytes that are hashed (interface rule 31 §10.4). */
export function canonicalRow(entry: ChainEntry): Buffer {
  const sequence = Buffer.alloc(8);
  sequence.writeBigUInt64BE(entry.sequence_number);
  return Buffer.concat([
    Buffer.from('SVCCHAIN1', 'latin1'),
    lengthPrefixed([
      entry.chain_id,
      sequence,
      entry.prev_hash,
      entry.at.toISOString(),
      entry.tenant_id,
      entry.actor_id,
      entry.action,
      entry.resource_type,
      entry.resource_id,
      canonicalJson(entry.details, 'integers'),
    ]),
  ]);
}

/** SHA-256 of the canonical bytes. */
export function rowHash(entry: ChainEntry): Buffer {
  return hash('sha256', canonicalRow(entry), 'buffer');
}

/**
 * Walks rows in order of sequence_number and stops at the first that does not fit. `after` is the trusted row before them
 * when the walk starts inside the chain; without it the first row must be number 1. `faultOf` says what else is wrong with a row. `checked` counts the rows
 * that are right.
 */
export async function verifyChain<Row extends ChainRow, Kind extends string = never>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  after?: { sequence_number: bigint; row_hash: Uint8Array },
  faultOf?: (row: Row) => Kind | undefined,
): Promise<ChainVerdict<Kind>> {
  let expected = (after?.sequence_number ?? 0n) + 1n;
  let previous = after?.row_hash ?? zeroHash;
  const verdict: ChainVerdict<Kind> = { valid: true, checked: 0, first: null, last: null, head_hash: null, failure: null };
  for await (const row of rows) {
    const kind = failureOf(row, expected, previous) ?? faultOf?.(row);
    if (kind) return { ...verdict, valid: false, failure: { sequence_number: String(row.sequence_number), kind } };
    verdict.checked += 1;
    verdict.first ??= String(row.sequence_number);
    verdict.last = String(row.sequence_number);
    verdict.head_hash = Buffer.from(row.row_hash).toString('hex');
    expected += 1n;
    previous = row.row_hash;
  }
  return verdict;
}

function failureOf(row: ChainRow, expected: bigint, previous: Uint8Array): ChainFailure['kind'] | undefined {
  if (row.sequence_number !== expected) return 'gap';
  if (Buffer.compare(row.prev_hash, previous) !== 0) return 'prev_mismatch';
  return hashOf(row)?.equals(row.row_hash) ? undefined : 'hash_mismatch';
}

/** Details that cannot be canonical were not written by us: they count as altered, not as a crash of the verifier. */
function hashOf(row: ChainRow): Buffer | undefined {
  try {
    return rowHash(row);
  } catch {
    return undefined;
  }
}
