import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { confirmAdmissions } from './admission.ts';
import type { AssignClient, UnassignClient } from './schema.ts';
import { assignedPairs, assignmentsOf, lockedClient, type Pair } from './store.ts';

/** Clients one route admits in one environment (interface rule 11 §4). */
export const MOST_PER_PAIR = 500;

/**
 * Lets the client call the routes in these environments; pairs it has already stay.
 * @throws Refusal not_found, validation_error for a route or environment unknown here, or one without a configuration for the other, what
 * `confirmAdmissions` throws
 */
export function assignClient(ctx: Ctx, { id, assignments }: z.output<typeof AssignClient>) {
  return mutate(ctx, async (tx) => {
    const client = await lockedClient(tx, ctx, id);
    const pairs = await servedPairs(tx, ctx, assignments);
    await lockRoutes(tx, ctx, pairs);
    const held = await assignedPairs(tx, ctx, client.id);
    const fresh = pairs.filter((p) => !held.some((h) => isSame(h, p)));
    await refuseFull(tx, ctx, fresh);
    await confirmAdmissions(
      tx,
      ctx,
      fresh.map((pair) => ({ ...pair, client_id: client.id })),
    );
    await tx.route_client_assignments.createMany({
      data: fresh.map(({ route_id, environment_id }) => ({
        ...own(ctx),
        route_id,
        environment_id,
        client_id: client.id,
        created_at: ctx.now,
      })),
      skipDuplicates: true,
    });
    await bump(tx, ctx, fresh);
    return told(
      { route_assignments: await assignmentsOf(tx, ctx, client.id) },
      fresh.map(assignmentEntry({ assigned: [client.id], unassigned: [] })),
    );
  });
}

/** Takes assignments away; without a list, all of them. Pairs the client does not have are no fault. @throws Refusal not_found */
export function unassignClient(ctx: Ctx, { id, assignments }: z.output<typeof UnassignClient>) {
  return mutate(ctx, async (tx) => {
    const client = await lockedClient(tx, ctx, id);
    const held = await assignedPairs(tx, ctx, client.id);
    const gone = assignments
      ? held.filter((h) => assignments.some((a) => a.route_id === h.route_id && a.environment_name === h.environment_name))
      : held;
    await lockRoutes(tx, ctx, gone);
    await tx.$executeRaw`
      delete from route_client_assignments a using unnest(${gone.map((g) => g.route_id)}::uuid[], ${gone.map((g) => g.environment_id)}::uuid[]) as p (route_id, environment_id)
      where a.client_id = ${client.id}::uuid and a.route_id = p.route_id and a.environment_id = p.environment_id`;
    await bump(tx, ctx, gone);
    return told(
      { deleted: true as const, route_assignments: await assignmentsOf(tx, ctx, client.id) },
      gone.map(assignmentEntry({ assigned: [], unassigned: [client.id] })),
    );
  });
}

const isSame = (a: Pair, b: Pair) => a.route_id === b.route_id && a.environment_id === b.environment_id;

/** Nothing changed, nothing to tell. */
function told<T>(value: T, entries: AuditEntry[]) {
  const [first, ...rest] = entries;
  return first ? audited(value, first, rest) : unchanged(value);
}

/** The route is what changed: who may call it. */
export const assignmentEntry =
  (change: { assigned: string[]; unassigned: string[] }) =>
  (pair: Pair): AuditEntry => ({
    action: 'update',
    resource_type: 'route',
    resource_id: pair.route_id,
    name: pair.route_name,
    details: { environment: pair.environment_name, ...change },
  });

/** The wanted pairs without repetition, each served by its route. */
async function servedPairs(tx: Tx, ctx: Ctx, wanted: { route_id: string; environment_name: string }[]): Promise<Pair[]> {
  const ids = wanted.map((w) => w.route_id);
  const configs = await tx.$queryRaw<Pair[]>`
    select c.route_id::text, r.name as route_name, c.environment_id::text, e.name as environment_name from route_environment_configs c
      join routes r on r.id = c.route_id join environments e on e.id = c.environment_id
    where c.tenant_id = ${ctx.tenant_id}::uuid and c.sandbox = ${ctx.sandbox} and c.route_id = any(${ids}::uuid[])`;
  const pairs = new Map<string, Pair>();
  for (const [i, w] of wanted.entries()) {
    const ofRoute = configs.filter((c) => c.route_id === w.route_id);
    if (ofRoute.length === 0) throw invalid(`assignments.${i}.route_id`, 'no such route');
    const pair = ofRoute.find((c) => c.environment_name === w.environment_name);
    if (!pair)
      throw invalid(`assignments.${i}.environment_name`, `the route ${ofRoute[0]?.route_name} is not configured for this environment`);
    pairs.set(`${pair.route_id} ${pair.environment_id}`, pair);
  }
  return [...pairs.values()];
}

/** In order of id, as every change of several routes takes them. */
const lockRoutes = (tx: Tx, ctx: Ctx, pairs: Pair[]) =>
  tx.$queryRaw`
    select 1 from routes where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and id = any(${pairs.map((p) => p.route_id)}::uuid[])
    order by id for no key update`;

async function refuseFull(tx: Tx, ctx: Ctx, pairs: Pair[]): Promise<void> {
  const counts = await tx.route_client_assignments.groupBy({
    by: ['route_id', 'environment_id'],
    where: { ...own(ctx), route_id: { in: pairs.map((p) => p.route_id) } },
    _count: true,
  });
  const full = pairs.find((p) =>
    counts.some((c) => c.route_id === p.route_id && c.environment_id === p.environment_id && c._count >= MOST_PER_PAIR),
  );
  if (full)
    throw new Refusal(
      'validation_error',
      `assignments: ${full.route_name} already has ${MOST_PER_PAIR} clients in ${full.environment_name}`,
    );
}

const bump = (tx: Tx, ctx: Ctx, pairs: Pair[]) =>
  tx.routes.updateMany({
    where: { ...own(ctx), id: { in: [...new Set(pairs.map((p) => p.route_id))] } },
    data: { config_version: { increment: 1 } },
  });
