import type { StoredChainRow, StoredCheckpoint } from '#server/crypto/chain-seal.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { sql } from '#server/platform/sql.ts';
import { OPERATOR_CHAIN } from './chain-ids.ts';
import type { StoredHead } from './heads.ts';

const BATCH = 1000;
/** Below every number: a row that was put in before the first. */
export const LOWEST = -(2n ** 63n);

/** What a chain is read with: outside row-level security, so callers name their own chain only. */
export type Reader = Pick<ReturnType<typeof sql>, 'query'>;

/** Reads of one moment. Keys must be at hand before: this holds one of few connections. */
export async function inSnapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
  const client = await sql().connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const result = await work(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

type Row = Omit<StoredChainRow, 'sequence_number'> & { sequence_number: string; seq: string };

/** All rows of a chain in order, `from` to `to` inclusive, a thousand at a time. Two rows of one number both come. */
export async function* chainRows(chainId: string, from = 1n, to?: bigint, reader: Reader = sql()): AsyncGenerator<StoredChainRow> {
  for (let next = { sequence: String(from), seq: '-1' }; ; ) {
    const { rows } = await reader.query<Row>({
      name: 'chain-rows',
      text: `select seq, id, chain_id, sequence_number, prev_hash, row_hash, at, tenant_id, actor_id, action, resource_type, resource_id, details, ip_address, user_agent,
          request_id, mac from audit_log_critical
        where chain_id = $1 and (sequence_number, seq) > ($2::bigint, $3::bigint) and ($4::bigint is null or sequence_number <= $4) order by sequence_number, seq limit ${BATCH}`,
      values: [chainId, next.sequence, next.seq, to ?? null],
    });
    for (const row of rows) yield { ...row, sequence_number: BigInt(row.sequence_number) };
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    next = { sequence: last.sequence_number, seq: last.seq };
  }
}

export async function chainRowAt(chainId: string, sequence: bigint, reader?: Reader): Promise<StoredChainRow | undefined> {
  for await (const row of chainRows(chainId, sequence, sequence, reader)) return row;
  return undefined;
}

type Numbers<T, K extends keyof T> = { [P in keyof T]: P extends K ? string | (null extends T[P] ? null : never) : T[P] };

/** `known`: what `highestSeen` said before the reader began. */
export async function headOf(chainId: string, reader: Reader, known: bigint): Promise<StoredHead | null> {
  const { rows } = await reader.query<Numbers<Omit<StoredHead, 'known'>, 'sequence_number' | 'epoch' | 'baseline' | 'failed_sequence'>>(
    'select * from audit_chain_heads where chain_id = $1',
    [chainId],
  );
  const [row] = rows;
  const number = (text: string | null) => (text === null ? null : BigInt(text));
  return row
    ? {
        ...row,
        known,
        sequence_number: BigInt(row.sequence_number),
        epoch: BigInt(row.epoch),
        baseline: number(row.baseline),
        failed_sequence: number(row.failed_sequence),
      }
    : null;
}

/** The signed checkpoints of a chain, oldest first. */
export async function checkpointsOf(chainId: string, reader: Reader): Promise<StoredCheckpoint[]> {
  const { rows } = await reader.query<Numbers<StoredCheckpoint, 'sequence_number'>>(
    'select id, chain_id, sequence_number, row_hash, signature, key_id, created_at from audit_checkpoints where chain_id = $1 order by created_at, id',
    [chainId],
  );
  return rows.map((row) => ({ ...row, sequence_number: BigInt(row.sequence_number) }));
}

/** The number of a row that shows up in the workspace's lists and is not of its chain. */
export async function foreignRow(chainId: string, reader: Reader): Promise<string | null> {
  if (chainId !== OPERATOR_CHAIN && !isUuid(chainId)) return null; // rows of no workspace: they have no head
  const { rows } = await reader.query<{ sequence_number: string }>(
    chainId === OPERATOR_CHAIN
      ? 'select sequence_number from audit_log_critical where tenant_id is null and chain_id <> $1 limit 1'
      : 'select sequence_number from audit_log_critical where tenant_id = $1::text::uuid and chain_id <> $1 limit 1',
    [chainId],
  );
  return rows[0]?.sequence_number ?? null;
}
