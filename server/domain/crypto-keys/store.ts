import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** What makes a version destroyed: material and public part are gone, the row stays as a marker. */
export const ERASED = (now: Date, by: string | null) => ({
  status: 'destroyed',
  value_ct: null,
  cek_wrapped: null,
  tmk_version: null,
  public_key_spki: null,
  destroy_after: null,
  destroyed_at: now,
  destroyed_by: by,
});

/** Erases all material of the space before its rows go, so that no page of the table keeps it live. */
export const eraseAllVersions = (tx: Tx, ctx: Ctx) =>
  tx.crypto_key_versions.updateMany({ where: { ...own(ctx), status: { not: 'destroyed' } }, data: ERASED(ctx.now, null) });
