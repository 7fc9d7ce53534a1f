import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import type { DuplicateEnvironment } from './schema.ts';
import { environmentById, inTurn, titleOf } from './service.ts';

type Environment = { id: string; name: string };
type Served = { id: string; route_id: string; new_id: string; route_name: string; slug: string | null; changed: string[] };

/**
 * Another environment in which every route does what it does in this one, with its client assignments on request and never a value of a
 * secret (interface rule 11 §9). What a route inherits it inherits here too: a copy of its base environment overrides nothing.
 */
export function duplicateEnvironment(ctx: Ctx, { id, include_clients, ...input }: z.output<typeof DuplicateEnvironment>) {
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    const source = await environmentById(tx, ctx, id);
    await withinPlan(tx, ctx, 'environments');
    await holdRoutes(tx, ctx, source);
    const row = await tx.environments
      .create({
        data: {
          ...own(ctx),
          color: source.color,
          description: source.description,
          ...input,
          id: newId(),
          display_name: input.display_name ?? titleOf(input.name),
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('An environment with this name exists.'));
    const served = await copyConfigurations(tx, ctx, source, row);
    await copyReferences(tx, ctx, source, row, served);
    const assignments = include_clients ? await copyAssignments(tx, ctx, source, row) : 0;
    await warnNobodyAdmitted(tx, ctx, row);
    const copied = { routes: served.length, assignments };
    return audited(
      { ...row, copied },
      {
        action: 'create',
        resource_type: 'environment',
        resource_id: row.id,
        name: row.name,
        details: { duplicated_from: source.id, copied },
      },
      served.map((one) => configEntry(one, row, source)),
    );
  });
}

/**
 * Their configurations stay as they are until the copy is made, and so do the clients assigned to them: whoever deletes or assigns a client holds
 * its routes.
 */
const holdRoutes = (tx: Tx, ctx: Ctx, source: Environment) =>
  tx.$queryRaw`select 1 from routes where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}
    and id in (select route_id from route_environment_configs where environment_id = ${source.id}::uuid) order by id for update`;

/** Copies the local settings of each route. Of a base only a pause is local: everything else a new override inherits. */
async function copyConfigurations(tx: Tx, ctx: Ctx, source: Environment, to: Environment): Promise<Served[]> {
  const rows = await tx.route_environment_configs.findMany({
    where: { ...own(ctx), environment_id: source.id },
    orderBy: { route_id: 'asc' },
    select: {
      id: true,
      route_id: true,
      is_base: true,
      enabled: true,
      overridden_fields: true,
      route: { select: { name: true, slug: true } },
    },
  });
  const served = rows.map(({ id, route_id, is_base, enabled, overridden_fields, route }) => ({
    ...{ id, route_id, new_id: newId(), route_name: route.name, slug: route.slug },
    changed: is_base ? (enabled === false ? ['enabled'] : []) : overridden_fields,
  }));
  const ids = served.map((one) => one.id);
  const newIds = served.map((one) => one.new_id);
  // A row with its identity replaced, whatever columns there are: a setting that is added later is copied too.
  await tx.$executeRaw`insert into route_environment_configs
    select copy.* from unnest(${ids}::uuid[], ${newIds}::uuid[]) as n(source, id)
    join route_environment_configs c on c.id = n.source
    cross join lateral (select jsonb_build_object('id', n.id, 'environment_id', ${to.id}::uuid, 'environment_name', ${to.name}::text,
      'is_base', false, 'created_at', ${ctx.now}::timestamptz, 'updated_at', ${ctx.now}::timestamptz) as here) new
    cross join lateral jsonb_populate_record(null::route_environment_configs, new.here || jsonb_build_object(
        'tenant_id', c.tenant_id, 'sandbox', c.sandbox, 'route_id', c.route_id, 'allowed_methods', array[]::text[], 'ip_allowlist', array[]::text[],
        'enabled', nullif(c.enabled, true), 'overridden_fields', case when c.enabled = false then array['enabled'] else array[]::text[] end)) inheriting
    cross join lateral jsonb_populate_record(case when c.is_base then inheriting else c end, new.here) copy`;
  await tx.routes.updateMany({
    where: { ...own(ctx), id: { in: served.map((one) => one.route_id) } },
    data: { config_version: { increment: 1 }, updated_at: ctx.now },
  });
  return served;
}

/** "Who uses this secret" knows the copies too. */
async function copyReferences(tx: Tx, ctx: Ctx, source: Environment, to: Environment, served: readonly Served[]): Promise<void> {
  const found = await tx.secret_references.findMany({
    where: { ...own(ctx), kind: 'route_environment', referrer_env: source.name, referrer_id: { in: overriding(served) } },
  });
  await tx.secret_references.createMany({ data: found.map((one) => ({ ...one, id: newId(), referrer_env: to.name })) });
}

const overriding = (served: readonly Served[]) => served.filter((one) => one.changed.length > 0).map((one) => one.route_id);

const copyAssignments = (tx: Tx, ctx: Ctx, source: Environment, to: Environment): Promise<number> =>
  tx.$executeRaw`insert into route_client_assignments (tenant_id, sandbox, route_id, environment_id, client_id, created_at)
    select tenant_id, sandbox, route_id, ${to.id}::uuid, client_id, ${ctx.now} from route_client_assignments
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and environment_id = ${source.id}::uuid`;

async function warnNobodyAdmitted(tx: Tx, ctx: Ctx, to: Environment): Promise<void> {
  const [closed] = await tx.$queryRaw<{ routes: number }[]>`select count(*)::int as routes from route_environment_configs c
    join route_environment_configs base on base.route_id = c.route_id and base.is_base
    where c.environment_id = ${to.id}::uuid and c.tenant_id = ${ctx.tenant_id}::uuid and coalesce(c.requires_clients, base.requires_clients)
      and not exists (select 1 from route_client_assignments a where a.route_id = c.route_id and a.environment_id = c.environment_id)`;
  if (closed && closed.routes > 0)
    ctx.warnings.push(
      `${closed.routes === 1 ? 'One route admits' : `${closed.routes} routes admit`} assigned clients only, and nobody is assigned in ${to.name} yet.`,
    );
}

/** As when a route begins to serve an environment; the trail of each route says where its settings came from. */
const configEntry = ({ route_id, route_name, slug, changed }: Served, to: Environment, source: Environment): AuditEntry => ({
  action: 'create',
  resource_type: 'environment_config',
  resource_id: route_id,
  name: route_name,
  details: { slug, environment: to.name, changed, copied_from: source.name },
});
