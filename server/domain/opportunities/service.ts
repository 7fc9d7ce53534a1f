export { interceptManifest } from './manifest.ts';

import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import type { Filter } from '#server/platform/lists/sql.ts';
import { refreshOpportunities } from './detection.ts';
import type {
  DismissOpportunity,
  Evidence,
  ListOpportunities,
  OpportunityRef,
  SnoozeOpportunity,
  Status,
  SuggestedRoute,
} from './schema.ts';

/** A page of suggestions. The log is read first, at most once a minute. */
export async function listOpportunities(ctx: Ctx, { id, status, source, host, ...query }: z.output<typeof ListOpportunities>) {
  await refreshOpportunities(ctx);
  return read(ctx, async (tx) => {
    const { ids, total } = await listIds(tx, ctx, {
      ...query,
      table: 'opportunities',
      filters: [
        id !== undefined && equal('id', id.toLowerCase(), 'uuid'),
        status !== undefined && equal('status', status),
        source !== undefined && equal('source', source),
        host !== undefined && equal('destination_host', host.toLowerCase()),
      ],
    });
    const rows = await tx.opportunities.findMany({ where: { ...own(ctx), id: { in: ids } } });
    return pageOf(inOrder(ids, rows).map(shown), total, query);
  });
}

const equal = (column: string, value: string, type: 'text' | 'uuid' = 'text'): Filter => ({
  where: (bind) => `${column} = ${bind(value, type)}`,
});

/** The columns are written from these types only. */
export const shown = (row: Row) => ({
  ...row,
  source: row.source as 'agent_monitor' | 'gateway_traffic',
  status: row.status as Status,
  suggested_route_json: row.suggested_route_json as SuggestedRoute | null,
  evidence_json: row.evidence_json as Evidence | null,
});

/** @throws Refusal not_found; conflict unless it is pending or snoozed */
export const dismissOpportunity = (ctx: Ctx, { id, reason = null }: z.output<typeof DismissOpportunity>) =>
  mutate(ctx, async (tx) => {
    const row = await openOpportunity(tx, ctx, id);
    await tx.opportunities.update({
      where: { id: row.id, ...own(ctx) },
      data: { status: 'dismissed', dismiss_reason: reason, ...AWAKE, acted_at: ctx.now, updated_at: ctx.now },
    });
    return audited({ opportunity_id: row.id, status: 'dismissed' as const }, { ...entryOf(row, 'dismiss'), details: { reason } });
  });

const HOUR = 3_600_000;
const SNOOZE = { least: HOUR, most: 90 * 24 * HOUR };

/** @throws Refusal validation_error, not_found; conflict unless it is pending or snoozed */
export function snoozeOpportunity(ctx: Ctx, input: z.output<typeof SnoozeOpportunity>) {
  const until = new Date(input.until);
  const ahead = until.getTime() - ctx.now.getTime();
  if (ahead < SNOOZE.least || ahead > SNOOZE.most) throw invalid('until', 'must be between 1 hour and 90 days ahead');
  return mutate(ctx, async (tx) => {
    const row = await openOpportunity(tx, ctx, input.id);
    const snoozed_calls = BigInt((row.evidence_json as Evidence | null)?.calls_30d ?? 0);
    await tx.opportunities.update({
      where: { id: row.id, ...own(ctx) },
      data: { status: 'snoozed', snoozed_until: until, snoozed_calls, acted_at: ctx.now, updated_at: ctx.now },
    });
    return audited(
      { opportunity_id: row.id, status: 'snoozed' as const, until },
      { ...entryOf(row, 'update'), changes: moved(row, 'snoozed'), details: { until: until.toISOString() } },
    );
  });
}

/** Back to pending. @throws Refusal not_found; conflict unless it is dismissed or snoozed */
export const reopenOpportunity = (ctx: Ctx, { id }: z.output<typeof OpportunityRef>) =>
  mutate(ctx, async (tx) => {
    const row = await lockedOpportunity(tx, ctx, id);
    if (row.status !== 'dismissed' && row.status !== 'snoozed')
      throw new Refusal('conflict', `Only a dismissed or snoozed opportunity can be reopened; this one is ${row.status}.`);
    const after = await tx.opportunities.update({
      where: { id: row.id, ...own(ctx) },
      data: { status: 'pending', dismiss_reason: null, ...AWAKE, acted_at: null, updated_at: ctx.now },
    });
    return audited(shown(after), { ...entryOf(row, 'update'), changes: moved(row, 'pending') });
  });

export type Row = Awaited<ReturnType<typeof lockedOpportunity>>;
export const AWAKE = { snoozed_until: null, snoozed_calls: null } as const;

export const entryOf = (row: { id: string; destination_host: string }, action: string) => ({
  action,
  resource_type: 'opportunity',
  resource_id: row.id,
  name: row.destination_host,
});
const moved = (row: { status: string }, to: Status) => [{ field: 'status', from: row.status, to }];

/** As `lockedOpportunity`, of one that is not decided yet. @throws Refusal conflict */
export async function openOpportunity(tx: Tx, ctx: Ctx, id: string): Promise<Row> {
  const row = await lockedOpportunity(tx, ctx, id);
  if (row.status !== 'pending' && row.status !== 'snoozed')
    throw new Refusal('conflict', `This opportunity is ${row.status}: only a pending or snoozed one can be decided.`);
  return row;
}

/** Two decisions about one suggestion run one after the other. @throws Refusal not_found */
export async function lockedOpportunity(tx: Tx, ctx: Ctx, id: string) {
  if (isUuid(id))
    await tx.$queryRaw`select 1 from opportunities where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} for update`;
  const row = isUuid(id) ? await tx.opportunities.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}
