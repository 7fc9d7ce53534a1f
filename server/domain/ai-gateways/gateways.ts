import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { countBy, type Filter } from '#server/platform/lists/sql.ts';
import { assertNotArchived, gatewayEntry } from './entries.ts';
import type { CreateAiGateway, ListAiGateways, UpdateAiGateway } from './schema.ts';
import { boostColumn, creatorOf, gatewayById, lockedGateway, shownGateway } from './store.ts';

/** Without a status asked for, those that aren't archived. */
export const listGateways = (ctx: Ctx, { status, ...query }: z.output<typeof ListAiGateways>) =>
  read(ctx, async (tx) => {
    const { ids, total } = await listIds(tx, ctx, { ...query, table: 'ai_gateways', filters: [ofStatus('ai_gateways', status)] });
    const rows = await tx.ai_gateways.findMany({ where: { ...own(ctx), id: { in: ids } } });
    return pageOf(inOrder(ids, rows).map(shownGateway), total, query);
  });

/** Those of a status; without one, all but archived ones, which the row counter counts. */
export const ofStatus = (table: 'ai_gateways' | 'ai_agents', status: string | undefined): Filter =>
  status === undefined
    ? {
        where: () => "status <> 'archived'",
        count: countBy((bind, mine) => `coalesce((select n from row_counts where ${mine} and kind = ${bind(table, 'text')}), 0)`),
      }
    : { where: (bind) => `status = ${bind(status, 'text')}` };

/** @throws Refusal not_found */
export const getGateway = (ctx: Ctx, { id }: { id: string }) => read(ctx, async (tx) => shownGateway(await gatewayById(tx, ctx, id)));

/** @throws Refusal plan_limit, conflict when the slug is taken */
export const createGateway = (ctx: Ctx, input: z.output<typeof CreateAiGateway>) =>
  mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'ai_gateways');
    const row = await insertGateway(tx, ctx, input);
    return audited(shownGateway(row), gatewayEntry('create', row, { budget_overage_action: row.budget_overage_action }));
  });

const insertGateway = (tx: Tx, ctx: Ctx, input: z.output<typeof CreateAiGateway>) =>
  tx.ai_gateways
    .create({
      data: {
        ...own(ctx),
        ...input,
        model_aliases: input.model_aliases as Prisma.InputJsonObject | undefined,
        budget_boost: boostColumn(input.budget_boost),
        id: newId(),
        created_by: creatorOf(ctx),
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    })
    .catch(onUnique('Another gateway of this space already has this slug.'));

/** @throws Refusal not_found, conflict for an archived one */
export const updateGateway = (ctx: Ctx, { id, ...input }: z.output<typeof UpdateAiGateway>) =>
  mutate(ctx, async (tx) => {
    const before = await lockedGateway(tx, ctx, id);
    assertNotArchived(before, 'gateway');
    const after = await tx.ai_gateways.update({
      where: { id: before.id, ...own(ctx) },
      data: {
        ...input,
        model_aliases: input.model_aliases as Prisma.InputJsonObject | undefined,
        budget_boost: boostColumn(input.budget_boost),
        updated_at: ctx.now,
      },
    });
    const [from, to] = [shownGateway(before), shownGateway(after)];
    const changes = changesOf(from, to, Object.keys(input));
    return changes.length === 0 ? unchanged(to) : audited(to, { ...gatewayEntry('update', after), changes });
  });
