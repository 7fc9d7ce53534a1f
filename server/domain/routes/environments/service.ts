import type { z } from 'zod';
import { heldEnvironment } from '#server/domain/environments/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import * as answers from '../answers.ts';
import { configEntry } from '../audit.ts';
import { applyPatch, checkDraft, configPatch, draftOf, fanOut } from '../config/draft.ts';
import { forgetReferences } from '../config/references.ts';
import { checkTarget } from '../config/target.ts';
import { warnNobodyAdmitted } from '../joining.ts';
import { confirmRemoval } from '../protections.ts';
import { saveDraft } from '../saving.ts';
import type { PutRouteEnvironment, RouteEnvironmentRef, RouteRef } from '../schema.ts';
import { lockRoute, routeByRef } from '../store.ts';

/** Every environment the route serves with its effective settings, the base first, then by name. */
export const listRouteEnvironments = (ctx: Ctx, { id }: z.output<typeof RouteRef>) =>
  read(ctx, async (tx) => answers.environments(await routeByRef(tx, ctx, id)));

/**
 * Makes the environment's configuration or merges into it: what is sent is set, null reverts to the base, the rest stays. On the base
 * environment it is a PATCH of the route's configuration fields (interface rule 10 §5).
 */
export async function putRouteEnvironment(ctx: Ctx, { id, env, enabled, ...fields }: z.output<typeof PutRouteEnvironment>) {
  await checkTarget(ctx, 'target_base_url', fields.target_base_url);
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    const environment = await heldEnvironment(tx, ctx, env);
    if (!environment) throw notFound();
    const before = draftOf(route.configs);
    const draft = draftOf(route.configs);
    const patch = configPatch(fields);
    applyPatch(draft, env, enabled === undefined ? patch : { ...patch, enabled });
    if (env === draft.base) fanOut(draft, patch);
    checkDraft(draft);
    await saveDraft(tx, ctx, route, before, draft, new Map([[environment.name, environment.id]]));
    await tx.routes.update({
      where: { id: route.id, ...own(ctx) },
      data: { config_version: { increment: 1 }, updated_at: ctx.now },
      select: { id: true },
    });
    const after = await routeByRef(tx, ctx, route.id);
    await warnNobodyAdmitted(tx, ctx, after, fields.requires_clients, environment.id);
    const created = !before.locals.has(env);
    return audited(
      { ...answers.fullConfig(after, configIn(after, env)), created },
      configEntry(created ? 'create' : 'update', after, env, route),
    );
  });
}

/** The environment is no longer served, its client assignments go; values of secrets stay. @throws Refusal validation_error for the base, step_up_required */
export function deleteRouteEnvironment(ctx: Ctx, { id, env }: z.output<typeof RouteEnvironmentRef>) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    const config = configIn(route, env);
    if (config.is_base)
      throw new Refusal(
        'validation_error',
        "The base environment can't be removed. Make another environment the base first, or delete the route.",
      );
    await confirmRemoval(tx, ctx, draftOf(route.configs), env);
    await tx.route_client_assignments.deleteMany({ where: { ...own(ctx), route_id: route.id, environment_id: config.environment_id } });
    await tx.route_environment_configs.delete({ where: { id: config.id, ...own(ctx) } });
    await forgetReferences(tx, ctx, route.id, env);
    await tx.routes.update({
      where: { id: route.id, ...own(ctx) },
      data: { config_version: { increment: 1 }, updated_at: ctx.now },
      select: { id: true },
    });
    return audited({ deleted: true as const }, configEntry('delete', route, env));
  });
}

function configIn(route: Awaited<ReturnType<typeof routeByRef>>, env: string) {
  const config = route.configs.find((c) => c.environment_name === env);
  if (!config) throw notFound();
  return config;
}
