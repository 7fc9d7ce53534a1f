import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { type Period, periodOf } from '../periods.shared.ts';
import { type CreateLimit, type ListLimits, plainDecimal, type UpdateLimit } from './schema.ts';

type LimitRow = Prisma.ai_limit_policiesGetPayload<object>;

/** Gateways judge every limit at every call. */
const MOST = 100;
const MOST_GROUPS = 50;

export function listLimits(ctx: Ctx, { sort, order, ...page }: z.output<typeof ListLimits>) {
  return read(ctx, async (tx) => {
    const total = await tx.ai_limit_policies.count({ where: own(ctx) });
    const rows = await pagedRows(
      page,
      total,
      [{ [sort]: order }, { id: order }],
      (window) => tx.ai_limit_policies.findMany({ where: own(ctx), ...window, select: { id: true } }),
      (ids) => tx.ai_limit_policies.findMany({ where: { ...own(ctx), id: { in: ids } } }),
    );
    return pageOf(rows.map(shown), total, page);
  });
}

/** One limit, with what its groups have used in the window that runs now, the most used first. */
export const getLimit = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const row = await limitById(tx, ctx, id);
    return { ...shown(row), use: await useOf(tx, ctx, row) };
  });

/** @throws Refusal conflict when the name is taken or there are too many */
export function createLimit(ctx: Ctx, input: z.output<typeof CreateLimit>) {
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:ai_limit_policies:${ctx.sandbox}`);
    if ((await tx.ai_limit_policies.count({ where: own(ctx) })) >= MOST)
      throw new Refusal('conflict', `A space has at most ${MOST} limit policies.`);
    assertWhole(input.metric, input.limit);
    const row = await tx.ai_limit_policies
      .create({
        data: {
          ...own(ctx),
          id: newId(),
          ...input,
          created_by: ctx.actor.type === 'member' ? ctx.actor.id : null,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('A limit policy with this name already exists.'));
    return audited(shown(row), { action: 'create', resource_type: 'ai_limit_policy', resource_id: row.id, name: row.name });
  });
}

/** What it counts can't be changed: its counters would speak of something else. @throws Refusal not_found, conflict when the name is taken */
export function updateLimit(ctx: Ctx, { id, ...input }: z.output<typeof UpdateLimit>) {
  return mutate(ctx, async (tx) => {
    const before = await limitById(tx, ctx, id);
    if (input.limit !== undefined) assertWhole(before.metric, input.limit);
    const after = await tx.ai_limit_policies
      .update({ where: { id: before.id, ...own(ctx) }, data: { ...input, updated_at: ctx.now } })
      .catch(onUnique('A limit policy with this name already exists.'));
    return audited(shown(after), {
      action: 'update',
      resource_type: 'ai_limit_policy',
      resource_id: after.id,
      name: after.name,
      changes: changesOf(shown(before), shown(after), Object.keys(input)),
    });
  });
}

/** @throws Refusal not_found */
export function deleteLimit(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await limitById(tx, ctx, id);
    await tx.ai_limit_policies.delete({ where: { id: row.id, ...own(ctx) } });
    return audited({ deleted: true as const }, { action: 'delete', resource_type: 'ai_limit_policy', resource_id: row.id, name: row.name });
  });
}

function assertWhole(metric: string, limit: string): void {
  if (metric !== 'usd' && limit.includes('.')) throw invalid('limit', `must be a whole number of ${metric}`);
}

/** @throws Refusal not_found */
async function limitById(tx: Tx, ctx: Ctx, id: string): Promise<LimitRow> {
  const row = isUuid(id) ? await tx.ai_limit_policies.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** As by id, holding the row until the transaction ends. */
export async function lockedLimit(tx: Tx, ctx: Ctx, id: string) {
  if (isUuid(id))
    await tx.$queryRaw`select 1 from ai_limit_policies where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for no key update`;
  return limitById(tx, ctx, id);
}

async function useOf(tx: Tx, ctx: Ctx, row: LimitRow) {
  const { start, end } = periodOf(row.window as Period, ctx.now.getTime());
  const counters = await tx.ai_spend_counters.findMany({
    where: { ...own(ctx), subject_type: 'policy', subject_id: { startsWith: row.id }, period: row.window, period_start: new Date(start) },
  });
  const limit = Number(row.limit);
  return counters
    .map(({ subject_id, spent_nano, reserved_nano, tokens, reserved_tokens, requests }) => {
      const [used, reserved] =
        row.metric === 'usd'
          ? [Number(spent_nano) / 1e9, Number(reserved_nano) / 1e9]
          : row.metric === 'tokens'
            ? [Number(tokens), Number(reserved_tokens)]
            : [Number(requests), 0];
      return {
        group: groupOf(subject_id),
        used,
        reserved,
        utilization_pct: limit === 0 ? 100 : Math.round((used / limit) * 100_000) / 1_000,
        resets_at: new Date(end),
      };
    })
    .sort((a, b) => b.used - a.used)
    .slice(0, MOST_GROUPS);
}

/** What the gateway wrote behind the ID of the policy. */
const groupOf = (subject: string): (string | null)[] => (subject.length > 37 ? (JSON.parse(subject.slice(37)) as (string | null)[]) : []);

const shown = ({ limit, metric, match, window, action, ...row }: LimitRow) => ({
  ...row,
  match: match as Record<string, never>,
  metric: metric as 'usd',
  window: window as 'day',
  action: action as 'block',
  limit: plainDecimal(limit.toFixed()),
});
