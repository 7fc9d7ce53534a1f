import { type Admission, confirmAdmissions } from '#server/domain/clients/service.ts';
import {
  assertMayStore,
  changedFields,
  columnsOf,
  configEntry,
  confirmActions,
  type Draft,
  localReferences,
  routeEntry,
  settingsOfAction,
  shownAction,
  storeSettings,
} from '#server/domain/routes/transfer/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { origin } from '../audit-entries.ts';
import { type PlanBuilder, type Step, targetCollectionId } from '../plan-builder.ts';
import { type RouteRow, routesWhere, secretsWhere } from '../rows.ts';
import type { RouteDrafts } from './routes.ts';

/** Some statements for all of them, whatever their number, and few for each that is changed: thousands go in one transaction. */
export async function applyRoutes(
  tx: Tx,
  ctx: Ctx,
  builder: PlanBuilder,
  drafts: RouteDrafts,
  steps: readonly Step[],
  run: string,
): Promise<AuditEntry[]> {
  if (steps.length === 0) return [];
  const environments = new Map(
    (await tx.environments.findMany({ where: own(ctx), select: { id: true, name: true } })).map((e) => [e.name, e.id]),
  );
  const before = new Map(builder.target.routes.map((row) => [row.id, row]));
  await assertMayStore(
    tx,
    ctx,
    steps.map((step) => {
      const collection_id = targetCollectionId(builder, builder.source.routes.get(step.id) as RouteRow);
      const left = before.get(step.there)?.collection_id ?? null;
      return { ...draftsOf(drafts, step), collection_id, moved: step.exists && left !== collection_id };
    }),
  );
  await create(
    tx,
    ctx,
    builder,
    drafts,
    steps.filter((step) => !step.exists),
    environments,
  );
  for (const step of steps.filter((one) => one.exists)) await update(tx, ctx, builder, drafts, step, environments);
  await assign(tx, ctx, builder, steps, environments);
  await replaceActions(tx, ctx, builder, steps);
  await refer(tx, ctx, drafts, steps);
  const after = new Map((await routesWhere(tx, ctx, { id: { in: steps.map((step) => step.there) } })).map((row) => [row.id, row]));
  return steps.flatMap((step) => entriesOf(step, drafts, after.get(step.there) as RouteRow, before.get(step.there), run));
}

const draftsOf = (drafts: RouteDrafts, step: Step) => drafts.get(step.id) as { before: Draft | null; after: Draft };
const idOf = (environments: Map<string, string>, name: string): string => {
  const id = environments.get(name);
  if (!id) throw new Error('a route serves an environment that was not made');
  return id;
};
async function create(
  tx: Tx,
  ctx: Ctx,
  builder: PlanBuilder,
  drafts: RouteDrafts,
  steps: readonly Step[],
  environments: Map<string, string>,
) {
  const at = { created_at: ctx.now, updated_at: ctx.now };
  await tx.routes.createMany({
    data: steps.map((step) => {
      const row = builder.source.routes.get(step.id) as RouteRow;
      const { after } = draftsOf(drafts, step);
      return {
        ...own(ctx),
        ...at,
        id: step.there,
        name: row.name,
        slug: row.slug,
        enabled: step.enabled === true,
        base_environment_id: idOf(environments, after.base),
        collection_id: targetCollectionId(builder, row),
      };
    }),
  });
  const configs = steps.flatMap((step) => {
    const { after } = draftsOf(drafts, step);
    return [...after.locals.keys()].map((name) => ({
      ...own(ctx),
      ...at,
      ...columnsOf(after, name),
      id: newId(),
      route_id: step.there,
      environment_id: idOf(environments, name),
    }));
  });
  for (const some of inBatches(configs, 500)) await tx.route_environment_configs.createMany({ data: some });
}

async function update(
  tx: Tx,
  ctx: Ctx,
  builder: PlanBuilder,
  drafts: RouteDrafts,
  step: Step,
  environments: Map<string, string>,
): Promise<void> {
  const row = builder.source.routes.get(step.id) as RouteRow;
  const { before, after } = draftsOf(drafts, step);
  await tx.routes.update({
    where: { id: step.there, ...own(ctx) },
    data: {
      name: row.name,
      collection_id: targetCollectionId(builder, row),
      base_environment_id: idOf(environments, after.base),
      config_version: { increment: 1 },
      updated_at: ctx.now,
    },
    select: { id: true },
  });
  const from = builder.target.routes.find(({ id }) => id === step.there)?.collection_id ?? null;
  const placed = { id: step.there, collection_id: targetCollectionId(builder, row), from };
  await storeSettings(tx, ctx, placed, before, after, environments);
}

/** Only added: whoever may call there already may go on. @throws Refusal what `confirmAdmissions` throws, for routes that are there already */
async function assign(tx: Tx, ctx: Ctx, builder: PlanBuilder, steps: readonly Step[], environments: Map<string, string>): Promise<void> {
  const rows = steps.flatMap((step) =>
    (builder.source.routes.get(step.id) as RouteRow).assignments.map((one) => ({
      ...own(ctx),
      route_id: step.there,
      environment_id: idOf(environments, one.environment.name),
      client_id: builder.steps.get(one.client_id)?.there as string,
      created_at: ctx.now,
    })),
  );
  const existing = new Set(steps.filter((step) => step.exists).map((step) => step.there));
  const held = await tx.route_client_assignments.findMany({
    where: { ...own(ctx), route_id: { in: [...existing] } },
    select: { client_id: true, route_id: true, environment_id: true },
  });
  const known = new Set(held.map(inWords));
  const fresh = rows.filter((row) => existing.has(row.route_id) && !known.has(inWords(row)));
  await confirmAdmissions(tx, ctx, fresh);
  for (const some of inBatches(rows, 2_000)) await tx.route_client_assignments.createMany({ data: some, skipDuplicates: true });
}

const inWords = ({ client_id, route_id, environment_id }: Admission) => `${client_id} ${route_id} ${environment_id}`;

/** What is done to values there is what is done to them here, in the same order. */
async function replaceActions(tx: Tx, ctx: Ctx, builder: PlanBuilder, steps: readonly Step[]): Promise<void> {
  const held = new Map(builder.target.routes.map((row) => [row.id, row.field_actions.map(shownAction)]));
  const comingTo = (step: Step) => (builder.source.routes.get(step.id) as RouteRow).field_actions.map(shownAction);
  for (const step of steps) await confirmActions(tx, ctx, (step.exists && held.get(step.there)) || [], comingTo(step));
  const changed = steps.filter((step) => step.exists).map((step) => step.there);
  await tx.route_field_actions.deleteMany({ where: { ...own(ctx), route_id: { in: changed } } });
  const at = { created_at: ctx.now, updated_at: ctx.now };
  const rows = steps.flatMap((step) =>
    comingTo(step).map((one) => ({
      ...settingsOfAction(one),
      ...own(ctx),
      ...at,
      id: newId(),
      route_id: step.there,
    })),
  );
  for (const some of inBatches(rows, 1_000)) await tx.route_field_actions.createMany({ data: some });
}

/** "Who uses this secret", anew for each of them. */
async function refer(tx: Tx, ctx: Ctx, drafts: RouteDrafts, steps: readonly Step[]): Promise<void> {
  const found = steps.flatMap((step) => localReferences(draftsOf(drafts, step).after).map((one) => ({ ...one, route: step.there })));
  const names = found.flatMap(({ reference: r }) => (r.kind === 'secret' ? [r.name] : []));
  const ids = found.flatMap(({ reference: r }) => (r.kind === 'secret_id' ? [r.id] : []));
  const secrets = await secretsWhere(tx, ctx, { OR: [{ shortcode_name: { in: [...new Set(names)] } }, { id: { in: [...new Set(ids)] } }] });
  const byName = new Map(secrets.map((one) => [one.shortcode_name, one.id]));
  const known = new Set(secrets.map((one) => one.id));
  const rows = found.flatMap(({ reference: r, route, environment, path }) => {
    if (r.kind !== 'secret' && r.kind !== 'secret_id') return [];
    const secretId = r.kind === 'secret' ? byName.get(r.name) : known.has(r.id) ? r.id : undefined;
    if (!secretId) return [];
    const by = r.kind === 'secret' ? 'name' : 'id';
    return [
      {
        ...own(ctx),
        id: newId(),
        secret_id: secretId,
        kind: 'route_environment',
        referrer_id: route,
        referrer_env: environment,
        field_path: path,
        by,
      },
    ];
  });
  const changed = steps.filter((step) => step.exists).map((step) => step.there);
  await tx.secret_references.deleteMany({ where: { ...own(ctx), kind: 'route_environment', referrer_id: { in: changed } } });
  for (const some of inBatches(rows, 2_000)) await tx.secret_references.createMany({ data: some });
}

/** As the route's own verbs tell it: the route, and each environment whose own settings changed. */
function entriesOf(step: Step, drafts: RouteDrafts, after: RouteRow, before: RouteRow | undefined, run: string): AuditEntry[] {
  const draft = draftsOf(drafts, step);
  const whence = (entry: AuditEntry): AuditEntry => ({ ...entry, details: { ...entry.details, ...origin(step, run) } });
  if (!before || !draft.before) {
    const environments = after.configs.map((c) => c.environment_name);
    return [whence(routeEntry('create', after, undefined, { environments }))];
  }
  const old = draft.before;
  const environments = [...draft.after.locals.keys()].filter(
    (name) => name !== draft.after.base && changedFields(old, draft.after, name).length > 0,
  );
  const clients = step.changes.flatMap((c) => (c.field === 'clients' ? [{ environment: c.environment, assigned: c.to }] : []));
  return [
    whence(routeEntry('update', after, before, clients.length > 0 ? { clients } : {})),
    ...environments.map((name) => whence(configEntry(old.locals.has(name) ? 'update' : 'create', after, name, before))),
  ];
}

function* inBatches<T>(rows: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size);
}
