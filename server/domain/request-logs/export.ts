import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { csvLine, download, type RawBody } from '#server/kernel/raw-body.ts';
import type { Places } from '#server/platform/geoip.ts';
import type { ExportLogs } from './browse.schema.ts';
import { placesFor, withPlace } from './countries.ts';
import { byRoutesOf, type LogFilters } from './filters.ts';
import { browseAll } from './history/pages.ts';
import { withAllOfPast } from './history/past.ts';
import { pastCount } from './history/reading.ts';
import { spanStart } from './span.shared.ts';
import type { LogFields } from './store.ts';

const MOST_ROWS = 100_000;
const BATCH = 1000;
const DAY = 24 * 3_600_000;

const COLUMNS = [
  'id',
  'request_id',
  'ts',
  'method',
  'path',
  'status_code',
  'error',
  'origin',
  'environment',
  'route_id',
  'route_name',
  'slug',
  'matched_client_id',
  'client_name',
  'identification_method',
  'src_ip',
  'user_agent',
  'latency_ms',
  'upstream_ms',
  'upstream_status',
  'upstream_host',
  'attempts',
  'request_bytes',
  'response_bytes',
  'rate_limited',
  'proxy_mode',
  'client_origin',
  'signature_valid',
  'api_key_id',
  'sandbox',
  'source_ip_country',
  'source_ip_city',
] as const satisfies readonly (keyof Row)[];

/** Where the caller was is looked up as the file is written, as for every other reader; empty where no database of countries is. */
type Row = ReturnType<typeof withPlace<LogFields>>;
type Wanted = {
  filters: LogFilters & { collection_id?: string | undefined };
  known: Places | null;
};

/** Metadata of the calls that pass, newest first, at most 100,000, streamed (interface rule 13 §8). Recorded before the first line leaves. */
export async function exportLogs(ctx: Ctx, { format, ...asked }: z.output<typeof ExportLogs>): Promise<RawBody> {
  const known = await placesFor(ctx);
  // The table's own default: who exports what is on the screen gets what is on the screen.
  const filters = { ...asked, from: asked.from ?? spanStart(asked.to ? Date.parse(asked.to) : ctx.now.getTime(), DAY).toISOString() };
  // Refused while it still can be: a file that ends early looks like a whole one.
  await withAllOfPast(ctx, filters.from, async (past) => past && pastCount(past, { from: filters.from }, 1));
  await mutate(ctx, async () =>
    audited(undefined, { action: 'export', resource_type: 'request_log', resource_id: null, details: { format, filters } }),
  );
  const wanted = { filters, known };
  const name = `requests-${ctx.now.toISOString().slice(0, 10)}`;
  return format === 'csv'
    ? download('text/csv; charset=utf-8; header=present', `${name}.csv`, csv(ctx, wanted))
    : download('application/x-ndjson; charset=utf-8', `${name}.ndjson`, ndjson(ctx, wanted));
}

async function* csv(ctx: Ctx, wanted: Wanted): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  for await (const rows of batches(ctx, wanted)) yield rows.map((row) => csvLine(COLUMNS.map((c) => textOf(row[c])))).join('');
}

const textOf = (value: Row[keyof Row]) => (value instanceof Date ? value.toISOString() : value);

async function* ndjson(ctx: Ctx, wanted: Wanted): AsyncGenerator<string> {
  for await (const rows of batches(ctx, wanted))
    yield rows.map((row) => `${JSON.stringify(Object.fromEntries(COLUMNS.map((c) => [c, row[c]])))}\n`).join('');
}

async function* batches(ctx: Ctx, { filters, known }: Wanted): AsyncGenerator<Row[]> {
  let narrowed: LogFilters | undefined;
  let before: { value: number; id: bigint } | undefined;
  for (let sent = 0; sent < MOST_ROWS; ) {
    const limit = Math.min(BATCH, MOST_ROWS - sent);
    const rows = await withAllOfPast(ctx, filters.from, (past) =>
      read(ctx, async (tx) => {
        narrowed ??= await byRoutesOf(tx, ctx, filters);
        return browseAll(tx, ctx, past, narrowed, { sort: 'ts', order: 'desc', limit, before });
      }),
    );
    if (rows.length > 0) yield rows.map((row) => withPlace(row, known));
    sent += rows.length;
    const last = rows.at(-1);
    if (!last || rows.length < limit) return;
    before = { value: last.ts.getTime(), id: BigInt(last.id) };
  }
}
