import { type LeafRow, leafFields, leafHash, merkleAlgo, merkleProof, merkleRoot, type ProofStep } from '#server/crypto/merkle.ts';
import { provenEntry } from '#server/domain/audit-logs/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { anchoredUpTo } from './anchors.ts';
import { leavesOfAll } from './history/leaves.ts';
import { mayReadIdentity } from './identity.ts';
import { AnchorDetails, type PROOF_REASONS } from './proof.schema.ts';
import { publicLog, settledCall } from './service.ts';
import type { LogFields } from './store.ts';

const MOST_LEAVES = 100_000;
const PER_MINUTE = 30;

type Reason = (typeof PROOF_REASONS)[number];
/** What an entry of the critical chain says of a range. */
type Anchor = {
  id: string;
  from_id: string;
  to_id: string;
  leaf_count: number;
  merkle_root: Buffer;
  algo: string;
  sequence_number: string;
  chain_row_hash: Uint8Array;
  anchored_at: Date;
};

const DETAILS: Record<Reason, string> = {
  not_yet_anchored: 'This entry is not anchored yet. Anchors are written every 15 minutes.',
  anchor_mismatch:
    "The anchor of this entry is missing, or its entry in the critical chain isn't the one that was written. Verify the critical chain.",
  range_incomplete:
    'Some entries of the anchored range are gone. Retention removes old entries, so this is expected and not a sign of tampering.',
  range_grew: 'The range now has more entries than were anchored: entries were added later.',
  root_mismatch: "The entries of the range don't produce the anchored root: at least one was altered.",
  row_not_in_range: 'The range produces the anchored root, but this entry is not part of it.',
  anchor_range_too_large: `The anchored range has more than ${grouped(MOST_LEAVES)} entries and is not recomputed on request.`,
};

/** A row with the path from its leaf to the anchored root, or the reason why there is none (interface rule 13 §5.3). */
export async function proveLog(ctx: Ctx, { request_id }: { request_id: string }) {
  await countProof(ctx);
  const row = await settledCall(ctx, request_id);
  if (!row) throw notFound();
  const identity = await mayReadIdentity(ctx);
  const note = identity
    ? 'Hash the twelve fields as stored (length-prefixed) to get the leaf, apply the steps to get merkle_root, and find that root in the critical chain entry.'
    : 'The identity fields are hidden from this credential. You can follow the steps from leaf_hash to merkle_root, but not recompute the leaf.';
  const anchor = await anchorOf(ctx.tenant_id, BigInt(row.id));
  return {
    ...publicLog(ctx, row, identity),
    ...(await proofOf(ctx.tenant_id, row, anchor)),
    verification: { algo: merkleAlgo, leaf_fields: [...leafFields], note },
  };
}

/** Thirty a minute and credential: each one may load ten thousand rows. */
async function countProof(ctx: Ctx): Promise<void> {
  const minute = Math.floor(ctx.now.getTime() / 60_000);
  const used = await windowCounter()(`proof:${ctx.tenant_id}:${ctx.actor.id ?? ctx.actor.type}`, minute, 60);
  if (used > PER_MINUTE)
    throw new Refusal('rate_limit_exceeded', `Rate limit exceeded: ${PER_MINUTE} proofs per minute for each credential.`, {
      retryAfter: 60 - Math.floor((ctx.now.getTime() / 1000) % 60),
    });
}

/**
 * The range that has the row, as the entry of the critical chain says it. The anchor's row only says where that entry is: it has no proof of its own. A row
 * below the end of the last anchored range has an anchor, whatever the rows of anchors say.
 */
async function anchorOf(tenantId: string, id: bigint): Promise<Anchor | 'not_yet_anchored' | 'anchor_mismatch'> {
  const { rows } = await sql().query<{ sequence_number: string }>({
    name: 'anchor-of',
    text: 'select sequence_number from request_log_anchors where tenant_id = $1 and from_id <= $2::bigint and to_id >= $2::bigint order by from_id desc limit 1',
    values: [tenantId, id],
  });
  const [place] = rows;
  if (!place) return id > (await anchoredUpTo(db(), tenantId)) ? 'not_yet_anchored' : 'anchor_mismatch';
  const entry = await provenEntry(tenantId, BigInt(place.sequence_number));
  if (entry?.action !== 'request_log.anchor') return 'anchor_mismatch';
  const said = AnchorDetails.safeParse(entry.details).data;
  if (!said || said.algo !== merkleAlgo || BigInt(said.from_id) > id || BigInt(said.to_id) < id) return 'anchor_mismatch';
  return {
    ...said,
    id: entry.resource_id ?? '',
    merkle_root: Buffer.from(said.merkle_root, 'hex'),
    sequence_number: place.sequence_number,
    chain_row_hash: entry.row_hash,
    anchored_at: entry.at,
  };
}

/** An anchor covers both spaces, so its range is read outside row-level security; only hashes of other rows leave. */
async function proofOf(tenantId: string, row: LogFields, anchor: Awaited<ReturnType<typeof anchorOf>>) {
  if (anchor === 'not_yet_anchored') return { anchored: false, ...refused(anchor) };
  const leaf = leafHash(row);
  if (anchor === 'anchor_mismatch') return { anchored: true, verified: false, leaf_hash: leaf.toString('hex'), ...refused(anchor) };
  const shown = {
    anchored: true,
    leaf_hash: leaf.toString('hex'),
    anchor: {
      id: anchor.id,
      sequence_number: anchor.sequence_number,
      anchored_at: anchor.anchored_at,
      algo: anchor.algo,
      merkle_root: anchor.merkle_root.toString('hex'),
      leaf_count: anchor.leaf_count,
      from_id: anchor.from_id,
      to_id: anchor.to_id,
      chain_row_hash: Buffer.from(anchor.chain_row_hash).toString('hex'),
    },
  };
  if (anchor.leaf_count > MOST_LEAVES) return { ...shown, verified: false, ...refused('anchor_range_too_large') };
  const leaves = await leavesOfAll(db(), tenantId, { from: BigInt(anchor.from_id), to: BigInt(anchor.to_id), most: anchor.leaf_count });
  return { ...shown, ...judge({ id: row.id, leaf }, anchor, leaves) };
}

const refused = (reason: Reason) => ({ reason, detail: DETAILS[reason] });

type Judgement = {
  verified: boolean;
  reason?: Reason;
  detail?: string;
  observed_leaf_count: number;
  recomputed_root?: string;
  leaf_index?: number;
  proof?: ProofStep[];
};

/** What the rows of a range as they are now say about a row of it. Pure: every reason is reached by construction in the tests. */
export function judge(
  { id, leaf }: { id: string; leaf: Buffer },
  anchor: Pick<Anchor, 'leaf_count' | 'merkle_root'>,
  leaves: readonly LeafRow[],
): Judgement {
  const observed_leaf_count = leaves.length;
  if (leaves.length < anchor.leaf_count) return { verified: false, ...refused('range_incomplete'), observed_leaf_count };
  if (leaves.length > anchor.leaf_count) return { verified: false, ...refused('range_grew'), observed_leaf_count };
  const hashes = leaves.map(leafHash);
  const root = merkleRoot(hashes);
  const recomputed_root = root.toString('hex');
  if (!root.equals(anchor.merkle_root)) return { verified: false, ...refused('root_mismatch'), observed_leaf_count, recomputed_root };
  // The row that is shown may come from another store than the leaves: its own hash must be among theirs.
  const leaf_index = leaves.findIndex((one, index) => one.id === id && hashes[index]?.equals(leaf));
  if (leaf_index === -1) return { verified: false, ...refused('row_not_in_range'), observed_leaf_count, recomputed_root };
  return { verified: true, observed_leaf_count, recomputed_root, leaf_index, proof: merkleProof(hashes, leaf_index) };
}
