import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { csvLine, download, type RawBody } from '#server/kernel/raw-body.ts';
import { places } from '#server/platform/geoip.ts';
import { locatedBy, viewMaker } from './details.ts';
import { rowsOf } from './entries.ts';
import type { AuditFilters } from './filters.ts';
import type { ExportAuditLogs } from './schema.ts';
import { type AuditKey, keysOf } from './store.ts';

const MOST_ROWS = 1_000_000;
const BATCH = 1000;

type View = (Awaited<ReturnType<typeof viewMaker>> extends (row: never) => infer V ? V : never) & { ip_country: string | null };

/** Everything that passes the filters, newest first, streamed (interface rule 61 §9). Recorded before the first line leaves. */
export async function exportAuditLogs(ctx: Ctx, { format, ...filters }: z.output<typeof ExportAuditLogs>): Promise<RawBody> {
  await mutate(ctx, async () =>
    audited(undefined, { action: 'export', resource_type: 'audit_log', resource_id: null, details: { format, filters } }),
  );
  const name = `audit-log-${ctx.now.toISOString().slice(0, 10)}`;
  return format === 'csv'
    ? download('text/csv; charset=utf-8; header=present', `${name}.csv`, csv(ctx, filters))
    : download('application/jsonl; charset=utf-8', `${name}.jsonl`, jsonl(ctx, filters));
}

async function* csv(ctx: Ctx, filters: AuditFilters): AsyncGenerator<string> {
  yield csvLine([
    'id',
    'created_at',
    'action',
    'resource_type',
    'resource_id',
    'store',
    'actor_type',
    'actor_id',
    'actor',
    'ip_address',
    'request_id',
    'details',
    'ip_country',
  ]);
  for await (const batch of batches(ctx, filters)) yield batch.map(csvRow).join('');
}

const csvRow = (v: View) =>
  csvLine([
    v.id,
    v.created_at.toISOString(),
    v.action,
    v.resource_type,
    v.resource_id,
    v.store,
    v.actor.type,
    v.actor.id,
    v.actor.label,
    v.ip_address,
    v.request_id,
    JSON.stringify(v.details),
    v.ip_country,
  ]);

async function* jsonl(ctx: Ctx, filters: AuditFilters): AsyncGenerator<string> {
  for await (const batch of batches(ctx, filters)) yield batch.map((view) => `${JSON.stringify(view)}\n`).join('');
}

/** One short transaction a batch: an export of an hour holds nothing open. */
async function* batches(ctx: Ctx, filters: AuditFilters): AsyncGenerator<View[]> {
  const located = locatedBy(await places());
  let before: Pick<AuditKey, 'at' | 'seq'> | undefined;
  for (let rows = 0; rows < MOST_ROWS; rows += BATCH) {
    const { keys, views } = await read(ctx, async (tx) => {
      const found = await keysOf(tx, ctx, filters, { order: 'newest', limit: BATCH, before });
      return { keys: found, views: (await rowsOf(tx, ctx, found)).map(await viewMaker(tx, ctx)) };
    });
    if (views.length > 0) yield views.map(located);
    before = keys.at(-1);
    if (keys.length < BATCH) return;
  }
}
