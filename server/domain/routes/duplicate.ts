import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { copyFieldActions } from './actions/copying.ts';
import { record } from './answers.ts';
import { routeEntry } from './audit.ts';
import { draftOf } from './config/draft.ts';
import { withFillInAllowed } from './fill-in.ts';
import { saveDraft } from './saving.ts';
import { type DuplicateRoute, routeSlugFrom } from './schema.ts';
import { freeCopyName, freeSlug, routeByRef } from './store.ts';

/** A copy with all configurations, switched off, with a slug of its own; logs, captures and the icon stay behind (interface rule 10 §15.1). */
export function duplicateRoute(ctx: Ctx, input: z.output<typeof DuplicateRoute>) {
  return mutate(ctx, async (tx) => {
    const source = await routeByRef(tx, ctx, input.id);
    await withinPlan(tx, ctx, 'routes');
    if (input.name !== undefined && (await tx.routes.findFirst({ where: { ...own(ctx), name: input.name }, select: { id: true } })))
      throw new Refusal('conflict', 'A route with this name already exists.');
    const name = input.name ?? (await freeCopyName(tx, ctx, source.name));
    const collection =
      source.collection_id === null
        ? null
        : await tx.collections.findFirst({ where: { ...own(ctx), id: source.collection_id }, select: { name: true } });
    const route = await tx.routes
      .create({
        data: {
          ...own(ctx),
          id: newId(),
          name,
          slug: await freeSlug(tx, ctx, routeSlugFrom(collection ? `${collection.name}-${name}` : name)),
          enabled: false,
          base_environment_id: source.base_environment_id,
          collection_id: source.collection_id,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('A route with this name already exists.'));
    await saveDraft(
      tx,
      ctx,
      route,
      null,
      await withFillInAllowed(ctx, draftOf(source.configs)),
      new Map(source.configs.map((c) => [c.environment_name, c.environment_id])),
    );
    await copyFieldActions(tx, ctx, source.id, route.id);
    if (input.include_clients)
      await tx.$executeRaw`insert into route_client_assignments (tenant_id, sandbox, route_id, environment_id, client_id, created_at)
        select tenant_id, sandbox, ${route.id}::uuid, environment_id, client_id, ${ctx.now} from route_client_assignments
        where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and route_id = ${source.id}::uuid`;
    const row = await routeByRef(tx, ctx, route.id);
    return audited({ route: record(row) }, routeEntry('create', row, undefined, { duplicated_from: source.id }));
  });
}
