import { settledEntries } from '#server/domain/audit-logs/service.ts';
import { settledCalls } from '#server/domain/request-logs/service.ts';
import { settledAttempts } from '#server/domain/webhooks/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { StreamRecord } from './records.ts';
import type { StreamSource } from './schema.ts';

/** Rows of a batch, and about how many bytes of them: what collectors take in one request (Datadog: 1,000 and 5 MB). */
export const BATCH_ROWS = 1_000;
const BATCH_BYTES = 3 * 1024 * 1024;

/** The next batch after a position, oldest first. `more`: there are further rows that can be sent now. */
export async function nextBatch(ctx: Ctx, source: StreamSource, after: bigint): Promise<{ records: StreamRecord[]; more: boolean }> {
  const rows: StreamRecord[] = await read(ctx, (tx) => READERS[source](tx, ctx, { after, limit: BATCH_ROWS }));
  // Transactions stay whole, and their rows are small.
  if (source === 'deliveries') return { records: rows, more: rows.length >= BATCH_ROWS / 2 };
  let bytes = 0;
  // The first one goes whatever its size: it would hold up the stream for ever.
  const kept = rows.findIndex(({ data }, i) => {
    bytes += Buffer.byteLength(JSON.stringify(data));
    return i > 0 && bytes > BATCH_BYTES;
  });
  return { records: kept === -1 ? rows : rows.slice(0, kept), more: kept !== -1 || rows.length === BATCH_ROWS };
}

type Reader = (tx: Tx, ctx: Ctx, place: { after: bigint; limit: number }) => Promise<StreamRecord[]>;
const READERS: Record<StreamSource, Reader> = {
  audit: settledEntries,
  requests: settledCalls,
  traces: settledCalls,
  deliveries: (tx, ctx, { after }) => settledAttempts(tx, ctx, { after, limit: BATCH_ROWS / 2 }),
};
