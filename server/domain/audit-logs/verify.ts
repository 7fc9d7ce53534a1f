import { type ChainVerdict, verifyChain } from '#server/crypto/chain.ts';
import { headHolds } from '#server/crypto/chain-head.ts';
import { historyDigest, rowMacHolds, type StoredChainRow, type StoredCheckpoint } from '#server/crypto/chain-seal.ts';
import { type AuditKeys, AuditKeysUnavailable, storedAuditKeys } from './audit-keys.ts';
import { faultOfHead, faultOfSeal, highestSeen, rememberHead, type StoredHead } from './heads.ts';
import type { ChainFailureKind } from './schema.ts';
import { chainRowAt, chainRows, checkpointsOf, foreignRow, headOf, inSnapshot, LOWEST, type Reader } from './stored-chain.ts';

type Verdict = ChainVerdict<ChainFailureKind>;
export type Baseline = {
  sequence_number: string;
  action: 'audit_chain.seal' | 'audit_chain.accept';
  at: Date;
  reason: string | null;
};
export type CriticalVerdict = Verdict & { baseline: Baseline | null };
type Failure = NonNullable<Verdict['failure']>;

const EMPTY: Verdict = { valid: true, checked: 0, first: null, last: null, head_hash: null, failure: null };
const failed = (kind: ChainFailureKind, sequence: bigint | string, of: Verdict = EMPTY): Verdict => ({
  ...of,
  valid: false,
  failure: { kind, sequence_number: String(sequence) },
});

/**
 * Recomputes a chain or a part of it and compares it with its sealed head and its signed checkpoints (interface rule 31 §10.7): what was altered, removed (also
 * all of it), put in, moved, put back or planted shows. A part starts after row `from` - 1, which is taken as it stands. Entries before the baseline are
 * judged by the digest in it; a part of them that doesn't begin with the first by their links alone.
 */
export async function verifyCritical(chainId: string, range: { from?: bigint; to?: bigint } = {}): Promise<CriticalVerdict> {
  let keys: AuditKeys;
  try {
    keys = await storedAuditKeys();
  } catch (error) {
    if (!(error instanceof AuditKeysUnavailable)) throw error;
    return { ...failed('keys_missing', '0'), baseline: null };
  }
  const known = highestSeen(chainId);
  return inSnapshot(async (reader) =>
    judge(reader, keys, await headOf(chainId, reader, known), chainId, { from: range.from ?? 1n, to: range.to }),
  );
}

type Range = { from: bigint; to: bigint | undefined };

async function judge(reader: Reader, keys: AuditKeys, head: StoredHead | null, chainId: string, range: Range): Promise<CriticalVerdict> {
  // From before heads existed: the worker seals it a day after the upgrade.
  if (!head && !keys.sealed) return { ...(await judgeUnsealed(reader, keys, chainId, range)), baseline: null };
  if (head && !faultOfSeal(keys.mac, head)) rememberHead(head);
  const fault = faultOfHead(keys.mac, head);
  if (fault || !head) return { ...failed(fault?.kind ?? 'head_missing', fault?.sequence ?? 0n), baseline: null };
  const entry = head.baseline === null ? null : await baselineEntry(reader, keys, head);
  if (entry === undefined) return { ...failed('history_mismatch', head.baseline ?? 0n), baseline: null };
  const baseline = entry && baselineOf(entry);
  const past = await judgePast(reader, chainId, range, entry);
  const rows = past.valid ? await judgeRows(reader, keys, head, range, past) : past;
  if (!rows.valid) return { ...rows, baseline };
  const foreign = range.from === 1n ? await foreignRow(chainId, reader) : null;
  if (foreign !== null) return { ...failed('foreign_entry', foreign, rows), baseline };
  const signed = await checkpointsOf(chainId, reader);
  if (signed.length < head.checkpoints) return { ...failed('checkpoint_missing', head.sequence_number, rows), baseline };
  if (signed.length > head.checkpoints) return { ...failed('checkpoint_invalid', head.sequence_number, rows), baseline };
  const failure = await againstCheckpoints(reader, keys, signed, range, head.sequence_number);
  return { ...(failure ? { ...rows, valid: false, failure } : rows), baseline };
}

/** Undefined when the head names an entry that isn't a baseline which this service wrote. */
export async function baselineEntry(reader: Reader, keys: AuditKeys, head: StoredHead): Promise<StoredChainRow | undefined> {
  const row = await chainRowAt(head.chain_id, head.baseline ?? 0n, reader);
  return row && rowMacHolds(keys.mac, row) && row.action.startsWith('audit_chain.') ? row : undefined;
}

function baselineOf(row: StoredChainRow): Baseline {
  const { reason } = row.details as { reason?: unknown };
  return {
    sequence_number: String(row.sequence_number),
    action: row.action === 'audit_chain.accept' ? 'audit_chain.accept' : 'audit_chain.seal',
    at: row.at,
    reason: typeof reason === 'string' ? reason : null,
  };
}

/** What stands before the baseline. An accepted chain may have gaps there, so that its entries are counted and only compared with the digest. */
async function judgePast(reader: Reader, chainId: string, { from, to }: Range, entry: StoredChainRow | null): Promise<Verdict> {
  if (!entry || from >= entry.sequence_number) return EMPTY;
  const end = entry.sequence_number - 1n;
  const until = to !== undefined && to < end ? to : end;
  const verdict =
    entry.action === 'audit_chain.seal'
      ? await judgeLinks(reader, chainId, { from, to: until })
      : await counted(chainRows(chainId, from, until, reader));
  if (!verdict.valid || from > 1n) return verdict;
  const { digest } = entry.details as { digest?: unknown };
  return digest === (await digestBefore(reader, chainId, entry.sequence_number))
    ? verdict
    : failed('history_mismatch', entry.sequence_number, verdict);
}

/** The digest of all entries before a number. */
export const digestBefore = (reader: Reader, chainId: string, sequence: bigint): Promise<string> =>
  historyDigest(chainRows(chainId, LOWEST, sequence - 1n, reader));

async function counted(rows: AsyncIterable<StoredChainRow>): Promise<Verdict> {
  const verdict = { ...EMPTY };
  for await (const row of rows) {
    verdict.checked++;
    verdict.first ??= String(row.sequence_number);
    verdict.last = String(row.sequence_number);
    verdict.head_hash = Buffer.from(row.row_hash).toString('hex');
  }
  return verdict;
}

/** Numbers, links and hashes; a row before the first one is taken as it stands. */
async function judgeLinks(
  reader: Reader,
  chainId: string,
  { from, to }: Range,
  faultOf?: (row: StoredChainRow) => ChainFailureKind | undefined,
): Promise<Verdict> {
  const before = from > 1n ? await chainRowAt(chainId, from - 1n, reader) : undefined;
  const verdict = await verifyChain(chainRows(chainId, from > 1n ? from : LOWEST, to, reader), before, faultOf);
  if (from === 1n || before || (verdict.checked === 0 && verdict.valid)) return verdict;
  return failed('gap', from - 1n, { ...verdict, checked: 0 });
}

/** The rows from the baseline on, and whether they end as the head says. `past` is the verdict on those before. */
async function judgeRows(reader: Reader, keys: AuditKeys, head: StoredHead, { from, to }: Range, past: Verdict): Promise<Verdict> {
  const start = head.baseline !== null && from < head.baseline ? head.baseline : from;
  if (to !== undefined && to < start) return past;
  const rows = await judgeLinks(reader, head.chain_id, { from: start, to }, (row) =>
    rowMacHolds(keys.mac, row) ? undefined : 'mac_mismatch',
  );
  const verdict = { ...rows, checked: past.checked + rows.checked, first: past.first ?? rows.first, last: rows.last ?? past.last };
  if (!verdict.valid || (to !== undefined && to < head.sequence_number) || start > head.sequence_number + 1n) return verdict;
  const last = BigInt(rows.last ?? start - 1n);
  if (last < head.sequence_number) return failed('gap', last + 1n, verdict);
  if (last > head.sequence_number) return failed('head_invalid', head.sequence_number + 1n, verdict);
  const ends = rows.head_hash === null || rows.head_hash === Buffer.from(head.row_hash).toString('hex');
  return ends ? verdict : failed('hash_mismatch', last, verdict);
}

/** A chain from before heads existed: links, hashes and checkpoints. */
export async function judgeUnsealed(reader: Reader, keys: AuditKeys, chainId: string, range: Range): Promise<Verdict> {
  const verdict = await judgeLinks(reader, chainId, range, (row) =>
    row.mac === null || rowMacHolds(keys.mac, row) ? undefined : 'mac_mismatch',
  );
  if (!verdict.valid) return verdict;
  const last = BigInt(verdict.last ?? range.from - 1n);
  const failure = await againstCheckpoints(reader, keys, await checkpointsOf(chainId, reader), range, last);
  return failure ? { ...verdict, valid: false, failure } : verdict;
}

/** A checkpoint that no key of ours signed was planted: it is a failure, as one that the chain contradicts. */
async function againstCheckpoints(
  reader: Reader,
  keys: AuditKeys,
  signed: readonly StoredCheckpoint[],
  { from, to }: Range,
  last: bigint,
): Promise<Failure | null> {
  for (const checkpoint of signed) {
    const { sequence_number, row_hash, signature, key_id, created_at } = checkpoint;
    const x = keys.published.find(({ kid }) => kid === key_id)?.x;
    if (x === undefined || !headHolds(x, { ...checkpoint, at: created_at }, signature))
      return { sequence_number: String(sequence_number), kind: 'checkpoint_invalid' };
    if (sequence_number < from || (to !== undefined && sequence_number > to)) continue;
    const row = await chainRowAt(checkpoint.chain_id, sequence_number, reader);
    if (sequence_number > last || !row) return { sequence_number: String(last + 1n), kind: 'gap' };
    if (Buffer.compare(row.row_hash, row_hash) !== 0) return { sequence_number: String(sequence_number), kind: 'hash_mismatch' };
  }
  return null;
}
