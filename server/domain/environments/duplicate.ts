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
type Served = { id: string; route_id: string; route_name: string; slug: string | null; changed: string[] };

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
      .catch(onUnique('An environment with this name already exists.'));
    const served = await copyConfigurations(tx, ctx, source, row);
    await copyReferences(tx, ctx, source, row);
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

/**
 * Copies the local settings of each route. Of a base only a pause is local: everything else a new override inherits. Whole sets at a time, and never an
 * id a parameter: an environment may serve tens of thousands of routes.
 */
async function copyConfigurations(tx: Tx, ctx: Ctx, source: Environment, to: Environment): Promise<Served[]> {
  const served = await tx.$queryRaw<Served[]>`select c.id::text, c.route_id::text, r.name as route_name, r.slug,
      case when not c.is_base then c.overridden_fields when c.enabled = false then array['enabled'] else array[]::text[] end as changed
    from route_environment_configs c join routes r on r.id = c.route_id
    where c.tenant_id = ${ctx.tenant_id}::uuid and c.sandbox = ${ctx.sandbox} and c.environment_id = ${source.id}::uuid order by c.route_id`;
  // A row with its identity replaced, whatever columns there are: a setting that is added later is copied too.
  await tx.$executeRaw`insert into route_environment_configs
    select copy.* from unnest(${served.map((one) => one.id)}::uuid[], ${served.map(() => newId())}::uuid[]) as n(source, id)
    join route_environment_configs c on c.id = n.source
    cross join lateral (select jsonb_build_object('id', n.id, 'environment_id', ${to.id}::uuid, 'environment_name', ${to.name}::text,
      'is_base', false, 'created_at', ${ctx.now}::timestamptz, 'updated_at', ${ctx.now}::timestamptz) as here) new
    cross join lateral jsonb_populate_record(null::route_environment_configs, new.here || jsonb_build_object(
        'tenant_id', c.tenant_id, 'sandbox', c.sandbox, 'route_id', c.route_id, 'allowed_methods', array[]::text[], 'ip_allowlist', array[]::text[],
        'enabled', nullif(c.enabled, true), 'overridden_fields', case when c.enabled = false then array['enabled'] else array[]::text[] end)) inheriting
    cross join lateral jsonb_populate_record(case when c.is_base then inheriting else c end, new.here) copy`;
  await tx.$executeRaw`update routes set config_version = config_version + 1, updated_at = ${ctx.now}
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and id = any(${served.map((one) => one.route_id)}::uuid[])`;
  return served;
}

/** "Who uses this secret" knows the copies too. A copy of a base names no secret of its own: it inherits. */
const copyReferences = (tx: Tx, ctx: Ctx, source: Environment, to: Environment) =>
  tx.$executeRaw`insert into secret_references (id, tenant_id, sandbox, secret_id, kind, referrer_id, referrer_env, field_path, by)
    select gen_random_uuid(), r.tenant_id, r.sandbox, r.secret_id, r.kind, r.referrer_id, ${to.name}, r.field_path, r.by
    from secret_references r join route_environment_configs c on c.route_id = r.referrer_id and c.environment_id = ${source.id}::uuid and not c.is_base
    where r.tenant_id = ${ctx.tenant_id}::uuid and r.sandbox = ${ctx.sandbox} and r.kind = 'route_environment' and r.referrer_env = ${source.name}`;

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
      `${closed.routes === 1 ? 'One route requires' : `${closed.routes} routes require`} an assigned client and ${closed.routes === 1 ? 'has' : 'have'} none in ${to.name}.`,
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
