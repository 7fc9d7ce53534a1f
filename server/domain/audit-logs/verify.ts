import { type ChainRow, type ChainVerdict, verifyChain } from '#server/crypto/chain.ts';
import { headHolds } from '#server/crypto/chain-head.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { publicKeyOf } from './signing.ts';

const BATCH = 1000;

type Row = Omit<ChainRow, 'sequence_number'> & { sequence_number: string };

/** All rows of a chain in order, `from` to `to` inclusive, a thousand at a time. Not under row-level security: callers pass their own chain only. */
export async function* chainRows(chainId: string, from = 1n, to?: bigint): AsyncGenerator<ChainRow> {
  for (let next = from; ; ) {
    const { rows } = await sql().query<Row>({
      name: 'chain-rows',
      text: `select chain_id, sequence_number, prev_hash, row_hash, at, tenant_id, actor_id, action, resource_type, resource_id, details from audit_log_critical
        where chain_id = $1 and sequence_number >= $2 and ($3::bigint is null or sequence_number <= $3) order by sequence_number limit ${BATCH}`,
      values: [chainId, next, to ?? null],
    });
    for (const row of rows) yield { ...row, sequence_number: BigInt(row.sequence_number) };
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    next = BigInt(last.sequence_number) + 1n;
  }
}

/**
 * Recomputes a chain or a part of it and compares it with the signed checkpoints: a row altered, removed (also at the end) or put in shows with its
 * number. A part starts after row `from` - 1, which is taken as it stands.
 */
export async function verifyCritical(chainId: string, range: { from?: bigint; to?: bigint } = {}): Promise<ChainVerdict> {
  const from = range.from ?? 1n;
  const before = from > 1n ? await rowAt(chainId, from - 1n) : undefined;
  const verdict = await verifyChain(chainRows(chainId, from, range.to), before);
  if (from > 1n && !before) {
    const begins = verdict.checked > 0 || !verdict.valid;
    return begins ? { ...verdict, valid: false, checked: 0, failure: { sequence_number: String(from - 1n), kind: 'gap' } } : verdict;
  }
  if (!verdict.valid) return verdict;
  const failure = await againstCheckpoints(chainId, from, range.to, BigInt(verdict.last ?? from - 1n));
  return failure ? { ...verdict, valid: false, failure } : verdict;
}

async function rowAt(chainId: string, sequence: bigint): Promise<ChainRow | undefined> {
  for await (const row of chainRows(chainId, sequence, sequence)) return row;
  return undefined;
}

async function againstCheckpoints(chainId: string, from: bigint, to: bigint | undefined, last: bigint): Promise<ChainVerdict['failure']> {
  const { rows } = await sql().query<{
    sequence_number: string;
    signed: Buffer;
    found: Buffer | null;
    signature: Buffer;
    key_id: string;
    created_at: Date;
  }>(
    `select k.sequence_number, k.row_hash as signed, c.row_hash as found, k.signature, k.key_id, k.created_at
     from audit_checkpoints k left join audit_log_critical c on c.chain_id = k.chain_id and c.sequence_number = k.sequence_number
     where k.chain_id = $1 and k.sequence_number >= $2 and ($3::bigint is null or k.sequence_number <= $3) order by k.sequence_number`,
    [chainId, from, to ?? null],
  );
  for (const row of rows) {
    const sequence = BigInt(row.sequence_number);
    const x = await publicKeyOf(row.key_id);
    const holds =
      x !== undefined &&
      headHolds(x, { chain_id: chainId, sequence_number: sequence, row_hash: row.signed, at: row.created_at }, row.signature);
    if (!holds) continue; // an unsigned claim proves nothing, in either direction
    if (sequence > last || !row.found) return { sequence_number: String(last + 1n), kind: 'gap' };
    if (!row.found.equals(row.signed)) return { sequence_number: row.sequence_number, kind: 'hash_mismatch' };
  }
  return null;
}

export type FailedChain = { chain_id: string; failure: ChainVerdict['failure'] };

/** Every chain of the deployment, nightly. Operators see a failure in the log at level fatal. @returns the chains that failed, and where */
export async function verifyAllChains(): Promise<{ checked: number; failed: FailedChain[] }> {
  const { rows } = await sql().query<{ chain_id: string }>(
    'select distinct chain_id from audit_log_critical union select distinct chain_id from audit_checkpoints',
  );
  const failed: FailedChain[] = [];
  for (const { chain_id } of rows) {
    const verdict = await verifyCritical(chain_id);
    if (verdict.valid) continue;
    failed.push({ chain_id, failure: verdict.failure });
    log.fatal({ chain_id, failure: verdict.failure }, 'critical audit chain verification failed: rows were altered or removed');
  }
  return { checked: rows.length, failed };
}
