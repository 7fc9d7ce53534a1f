import { servingRoutesNaming } from '#server/domain/collections/service.ts';
import { draftOf } from '#server/domain/routes/transfer/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { variableField } from './families/collections.ts';
import { createNameIndex, loadReferenced } from './name-index.ts';
import { type PlanBuilder, type Step, there } from './plan-builder.ts';
import { type CollectionRow, collectionsWhere, routesWhere } from './rows.ts';
import { type Fault, faultsOf, freshOf, waitsFor } from './secret-faults.ts';
import { worldOf } from './world.ts';

/** Routes read at once. */
const CHUNK = 20;

/**
 * Routes that serve calls keep serving them: a change of a secret or a collection that would make one fail waits until it would not, whether the route
 * moves along or not. What is held back may have been what another change was good with, so all are looked at again until none breaks anything.
 */
export async function deferBreakingChanges(tx: Tx, ctx: Ctx, builder: PlanBuilder): Promise<void> {
  const ids = await concerned(tx, ctx, builder);
  for (let held = ids.length > 0; held; ) {
    const broken = new Map<Step, Broken[]>();
    for (let at = 0; at < ids.length; at += CHUNK) {
      const routes = await routesWhere(tx, ctx, { id: { in: ids.slice(at, at + CHUNK) } });
      const { collections, secrets } = await loadReferenced(tx, ctx, routes);
      // What is planned may lead to what these routes do not name yet.
      const known = createNameIndex([...builder.target.collections, ...collections], [...builder.target.secrets, ...secrets]);
      const [now, then] = [worldOf(known), worldOf(known, builder)];
      for (const { name, configs, collection_id } of routes) {
        const route = { draft: draftOf(configs), collection_id };
        for (const fault of freshOf(faultsOf(route, then, ctx.now), faultsOf(route, now, ctx.now)))
          for (const step of causesOf(builder, fault)) {
            const faults = broken.get(step) ?? [];
            broken.set(step, faults);
            faults.push({ ...fault, route: name });
          }
      }
    }
    for (const [step, faults] of broken) holdBack(builder, step, faults);
    held = broken.size > 0;
  }
}

type Broken = Fault & { route: string };

/** What of the plan brings it about: the secret itself if its settings do, else the variables that lead there. */
function causesOf(builder: PlanBuilder, { why, secret_id, through }: Fault): Step[] {
  const updates = (id: string | undefined) => {
    const step = builder.there.get(id ?? '');
    return step?.action === 'update' ? step : undefined;
  };
  const secret = updates(secret_id);
  const field = why === 'host' ? 'allowed_hosts' : why === 'ended' ? 'strict_expiry_enforcement' : undefined;
  if (secret?.changes.some((change) => change.field === field && isRestriction(change))) return [secret];
  const changed = through.flatMap(({ collection_id, key }) => {
    const step = updates(collection_id);
    return step?.changes.some((change) => change.field === variableField(key)) ? [step] : [];
  });
  return [...new Set(changed)];
}

function holdBack(builder: PlanBuilder, step: Step, faults: readonly Broken[]): void {
  const routes = [...new Set(faults.map((one) => one.route))];
  const users = list.format(routes.length > NAMED ? [...routes.slice(0, NAMED - 1), `${routes.length - NAMED + 1} more`] : routes);
  const who =
    routes.length === 1
      ? `Route ${users} is on in ${there(builder.to)}, and its calls`
      : `Routes ${users} are on in ${there(builder.to)}, and their calls`;
  step.action = 'skip';
  step.needs_values = [
    ...Map.groupBy(
      faults.filter(({ why }) => why === 'value'),
      (one) => `${one.secret} ${one.environment}`,
    ).values(),
  ].flatMap((ones) => ones.slice(0, 1).map(({ secret, environment }) => ({ secret, environment, routes: ones.map((one) => one.route) })));
  step.reason = `${who} ${waitsFor(builder, step, faults)}`;
}
const NAMED = 4;
const list = new Intl.ListFormat('en');

/** Ids of the routes that are on there and use what the plan changes in a way that may make calls fail. */
async function concerned(tx: Tx, ctx: Ctx, builder: PlanBuilder): Promise<string[]> {
  const updates = [...builder.steps.values()].filter((step) => step.action === 'update');
  const secrets = updates.flatMap((step) => (step.type === 'secret' && step.changes.some(isRestriction) ? [step.there] : []));
  const direct = await tx.$queryRaw<{ id: string }[]>`
    select distinct r.id::text from routes r join secret_references s on s.tenant_id = r.tenant_id and s.sandbox = r.sandbox and s.referrer_id = r.id
    where r.tenant_id = ${ctx.tenant_id}::uuid and r.sandbox = ${ctx.sandbox} and r.enabled and s.kind = 'route_environment' and s.secret_id = any(${secrets}::uuid[])`;
  const ids = new Set(direct.map((row) => row.id));
  const behind = await collectionsWhere(tx, ctx, { variables: { some: { ...own(ctx), secret_id: { in: secrets } } } });
  const uses = behind.map((collection) => ({
    collection,
    keys: collection.variables.flatMap((v) => (v.secret_id && secrets.includes(v.secret_id) ? [v.key] : [])),
    where: 'injected' as const,
  }));
  for (const { collection, keys, where } of [...uses, ...updates.flatMap((step) => changedVariables(builder, step))])
    if (keys.length > 0) for (const id of await servingRoutesNaming(tx, ctx, collection, keys, where)) ids.add(id);
  return [...ids].sort();
}

/** A list of hosts that lacks one, or strictness. */
function isRestriction({ field, from, to }: Step['changes'][number]): boolean {
  if (field === 'strict_expiry_enforcement') return to === true;
  return field === 'allowed_hosts' && Array.isArray(to) && !(Array.isArray(from) && from.every((host) => to.includes(host)));
}

/** Variables that become a secret, or another one, and values that change: those may be hosts. */
function changedVariables({ source, steps, find }: PlanBuilder, step: Step) {
  const [mine, theirs] = [source.collections.get(step.id), find.theirs.collection.get(step.there)];
  if (!mine || !theirs) return [];
  const keysOf = (changes: (coming: Coming, held: Coming) => boolean) =>
    mine.variables.flatMap((coming) => {
      const held = theirs.variables.find((one) => one.key === coming.key);
      return held && changes(coming, held) ? [coming.key] : [];
    });
  return [
    {
      collection: theirs,
      keys: keysOf((coming, held) => coming.secret_id !== null && steps.get(coming.secret_id)?.there !== held.secret_id),
      where: 'injected' as const,
    },
    {
      collection: theirs,
      keys: keysOf((coming, held) => coming.secret_id === null && coming.value !== held.value),
      where: 'target' as const,
    },
  ];
}
type Coming = CollectionRow['variables'][number];
