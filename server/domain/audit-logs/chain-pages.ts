import type { z } from 'zod';
import { type ChainRow, canonicalRow, zeroHash } from '#server/crypto/chain.ts';
import { signHead } from '#server/crypto/chain-head.ts';
import { rowMacHolds, type StoredChainRow } from '#server/crypto/chain-seal.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { download, type RawBody } from '#server/kernel/raw-body.ts';
import { sql } from '#server/platform/sql.ts';
import { type AuditKeys, AuditKeysUnavailable, storedAuditKeys } from './audit-keys.ts';
import { faultOfHead, highestSeen } from './heads.ts';
import { mayReadDetails } from './may-read-details.ts';
import type { BrowseCritical, CriticalRow, VerifyCritical } from './schema.ts';
import { chainRows, headOf } from './stored-chain.ts';
import { verifyCritical } from './verify.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** The workspace's chain in order, a page after a sequence number; one chain serves both spaces (interface rule 31 §10.7). */
export async function browseCritical(ctx: Ctx, { after, limit, action, from, to }: z.output<typeof BrowseCritical>) {
  const at = { ...(from ? { gte: new Date(from) } : {}), ...(to ? { lte: new Date(to) } : {}) };
  const where = {
    chain_id: ctx.tenant_id,
    sequence_number: { gt: after ?? 0n },
    ...(action ? { action } : {}),
    ...(from || to ? { at } : {}),
  };
  const { open, rows, head } = await read(ctx, async (tx) => ({
    open: await mayReadDetails(tx, ctx),
    rows: await tx.audit_log_critical.findMany({ where, orderBy: { sequence_number: 'asc' }, take: limit + 1 }),
    head: await tx.audit_log_critical.findFirst({
      where: { chain_id: ctx.tenant_id },
      orderBy: { sequence_number: 'desc' },
      select: { sequence_number: true, row_hash: true },
    }),
  }));
  const shown = rows.slice(0, limit);
  return {
    entries: shown.map((row) => (open ? readable(row) : withheld(row))),
    next_after: rows.length > limit ? String(shown.at(-1)?.sequence_number) : null,
    head: head && { sequence_number: String(head.sequence_number), row_hash: hex(head.row_hash) },
    checkpoint: await lastCheckpoint(ctx.tenant_id),
    failure: await knownFailure(ctx.tenant_id),
  };
}

/** What is known without reading the chain: the head is missing or not ours, or keeps a failure. */
async function knownFailure(chainId: string) {
  const keys = await keysOrNone();
  if (!keys) return { kind: 'keys_missing' as const, sequence_number: '0' };
  const head = await headOf(chainId, sql(), highestSeen(chainId));
  const fault = !head && !keys.sealed ? null : faultOfHead(keys.mac, head);
  return fault && { kind: fault.kind, sequence_number: String(fault.sequence) };
}

async function keysOrNone(): Promise<AuditKeys | null> {
  try {
    return await storedAuditKeys();
  } catch (error) {
    if (error instanceof AuditKeysUnavailable) return null;
    throw error;
  }
}

const readable = (row: ChainRow) => ({
  chain_id: row.chain_id,
  sequence_number: String(row.sequence_number),
  prev_hash: hex(row.prev_hash),
  row_hash: hex(row.row_hash),
  at: row.at,
  tenant_id: row.tenant_id,
  actor_id: row.actor_id,
  action: row.action,
  resource_type: row.resource_type,
  resource_id: row.resource_id,
  // Any JSON; the output schema checks it.
  details: row.details as z.input<typeof CriticalRow>['details'],
});

/** The hashes stay: whoever has an older export can still compare. */
const withheld = (row: ChainRow) => ({
  ...readable(row),
  details: { sandbox: (row.details as { sandbox?: boolean }).sandbox === true },
  details_redacted: true,
});

/** Checkpoints are outside row-level security: the chain's id is the workspace's own. */
async function lastCheckpoint(chainId: string) {
  const { rows } = await sql().query<{ sequence_number: string; row_hash: string; key_id: string; created_at: Date }>(
    `select sequence_number, encode(row_hash, 'hex') as row_hash, key_id, created_at from audit_checkpoints where chain_id = $1 order by created_at desc limit 1`,
    [chainId],
  );
  return rows[0] ?? null;
}

/** Recomputes the workspace's chain, or a part, against itself, its sealed head and its signed checkpoints. */
export const verifyChainOf = (ctx: Ctx, range: z.output<typeof VerifyCritical>) => verifyCritical(ctx.tenant_id, range);

/**
 * The whole chain as JSON lines, each with the bytes that were hashed, then a trailer that signs the last row: what `verify-audit-chain.mjs` checks
 * without us. Recorded before the first line leaves. @throws Refusal role_denied while details are withheld from the caller
 */
export async function exportCritical(ctx: Ctx): Promise<RawBody> {
  if (!(await read(ctx, (tx) => mayReadDetails(tx, ctx))))
    throw new Refusal('role_denied', "This workspace withholds audit details, and the chain can't be verified without them.");
  await mutate(ctx, async () =>
    audited(undefined, {
      action: 'export',
      resource_type: 'audit_log',
      resource_id: null,
      name: 'Critical chain',
      details: { store: 'critical', format: 'jsonl' },
    }),
  );
  const stamp = ctx.now.toISOString().slice(0, 10);
  return download('application/jsonl; charset=utf-8', `critical-chain-${stamp}.jsonl`, exportLines(ctx.tenant_id, ctx.now));
}

/** Signed only if the chain verifies, up to the entry where it did: a failure leaves in place of the signature. */
async function* exportLines(chainId: string, now: Date): AsyncGenerator<string> {
  const verdict = await verifyCritical(chainId);
  const keys = await keysOrNone();
  const from = BigInt(verdict.baseline?.sequence_number ?? 1n);
  const end = verdict.valid ? BigInt(verdict.last ?? 0n) : undefined;
  let last = { sequence_number: 0n, row_hash: zeroHash as Uint8Array };
  let whole = verdict.valid;
  let lines = '';
  for await (const row of chainRows(chainId, 1n, end)) {
    lines += `${JSON.stringify({ ...readable(row), canonical: canonicalOf(row) })}\n`;
    whole &&= row.sequence_number < from || (keys !== null && rowMacHolds(keys.mac, row));
    last = row;
    if (lines.length < 65_536) continue;
    yield lines;
    lines = '';
  }
  const head = { chain_id: chainId, sequence_number: String(last.sequence_number), row_hash: hex(last.row_hash), at: now.toISOString() };
  const ends = verdict.head_hash === null || verdict.head_hash === head.row_hash;
  const trailer =
    whole && ends && keys
      ? { head, ...signatureOf(keys, { chain_id: chainId, ...last, at: now }) }
      : { head, signature: null, failure: verdict.failure ?? { kind: 'mac_mismatch', sequence_number: head.sequence_number } };
  yield `${lines}${JSON.stringify(trailer)}\n`;
}

const signatureOf = ({ signing }: AuditKeys, head: Pick<StoredChainRow, 'chain_id' | 'sequence_number' | 'row_hash' | 'at'>) => ({
  signature: signHead(signing, head).toString('base64'),
  algorithm: 'Ed25519',
  key_id: signing.key_id,
  public_key: signing.x,
});

/** A row whose details were altered beyond what canonical JSON can hold still leaves in the export; there it fails the check, as it should. */
function canonicalOf(row: ChainRow): string | null {
  try {
    return canonicalRow(row).toString('base64');
  } catch {
    return null;
  }
}
