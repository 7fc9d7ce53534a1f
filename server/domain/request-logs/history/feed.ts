import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { LogFilters } from '../filters.ts';
import { type FeedRow, rowsAfter } from '../store.ts';
import type { Past } from './past.ts';
import { pastRowsAfter } from './reading.ts';

/** Rows after an ID, in order of id, as `rowsAfter` (store.ts) has them: up to the cut from ClickHouse, where all were settled long ago. */
export async function rowsAfterInAll(
  tx: Tx,
  ctx: Ctx,
  past: Past | null,
  filters: LogFilters,
  place: { after: bigint; limit: number; watermark: Date },
): Promise<(FeedRow & { place: bigint })[]> {
  const { after, limit } = place;
  if (!past || after >= past.cut) return rowsAfter(tx, ctx, filters, place);
  const older = (await pastRowsAfter(past, filters, after, limit)).map((row) => ({ ...row, settled: true, place: BigInt(row.id) }));
  if (older.length === limit) return older;
  return [...older, ...(await rowsAfter(tx, ctx, filters, { ...place, after: past.cut, limit: limit - older.length }))];
}
