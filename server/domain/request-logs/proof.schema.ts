import { z } from 'zod';
import { time } from '#server/kernel/fields.ts';
import { RequestLogRecord } from './schema.ts';

const proofStep = z.object({ hash: z.string(), right: z.boolean() });

export const PROOF_REASONS = [
  'not_yet_anchored',
  'anchor_mismatch',
  'range_incomplete',
  'range_grew',
  'root_mismatch',
  'row_not_in_range',
  'anchor_range_too_large',
] as const;

/** What an entry of the critical chain says of the range that it anchors. */
export const AnchorDetails = z.object({
  merkle_root: z.string().regex(/^[0-9a-f]{64}$/),
  leaf_count: z.int().min(1),
  from_id: z.string().regex(/^\d{1,19}$/),
  to_id: z.string().regex(/^\d{1,19}$/),
  algo: z.string(),
});

/** A row with what shows that it existed unaltered (interface rule 13 §5.3). */
export const LogProof = RequestLogRecord.extend({
  anchored: z.boolean(),
  verified: z.boolean().optional(),
  reason: z.enum(PROOF_REASONS).optional(),
  detail: z.string().optional(),
  anchor: z
    .object({
      id: z.uuid(),
      sequence_number: z.string(),
      anchored_at: time(),
      algo: z.string(),
      merkle_root: z.string(),
      leaf_count: z.number(),
      from_id: z.string(),
      to_id: z.string(),
      chain_row_hash: z.string().nullable(),
    })
    .optional(),
  observed_leaf_count: z.number().optional(),
  recomputed_root: z.string().optional(),
  leaf_index: z.number().optional(),
  leaf_hash: z.string().optional(),
  proof: z.array(proofStep).optional(),
  verification: z.object({ algo: z.string(), leaf_fields: z.array(z.string()), note: z.string() }),
}).meta({ id: 'LogProof' });
