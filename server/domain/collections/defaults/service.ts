import type { z } from 'zod';
import * as routes from '#server/domain/routes/membership/service.ts';
import { confirmOpened } from '#server/domain/secrets/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import type { PutEnvironmentDefaults } from '../schema.ts';
import { collectionById } from '../service.ts';

/** What a member route is expected to have: the environments, and per environment a target and clients (interface rule 10 §13). */
export const getDefaults = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => defaultsAnswer(tx, ctx, await collectionById(tx, ctx, input.id)));

/** Replaces the whole. Nothing happens to member routes until they join or are reset. @throws Refusal validation_error */
export async function putDefaults(ctx: Ctx, { id, expected_environments, environments }: z.output<typeof PutEnvironmentDefaults>) {
  for (const [i, { base_url }] of environments.entries()) await routes.checkTarget(ctx, `environments.${i}.base_url`, base_url);
  return mutate(ctx, async (tx) => {
    const collection = await collectionById(tx, ctx, id);
    const expected = [...new Set(expected_environments)];
    await refuseUnknownEnvironments(tx, ctx, expected, environments);
    await refuseUnknownClients(tx, ctx, environments);
    const before = await defaultsAnswer(tx, ctx, collection);
    const where = { ...own(ctx), collection_id: collection.id };
    await tx.collection_environment_defaults.deleteMany({ where });
    await tx.collection_environment_defaults.createMany({
      data: environments.map((e) => ({ ...where, ...e, default_client_ids: [...new Set(e.default_client_ids)] })),
    });
    const row = await tx.collections.update({
      where: { id: collection.id, ...own(ctx) },
      data: { expected_environments: expected, updated_at: ctx.now },
    });
    const after = await defaultsAnswer(tx, ctx, row);
    return audited(after, {
      action: 'update',
      resource_type: 'collection',
      resource_id: row.id,
      name: row.name,
      changes: changesOf(before, after, ['expected_environments', 'environments']),
      details: { change: 'environment_defaults' },
    });
  });
}

/** Per member route, what differs from the defaults; of a route that is no member nothing. */
export const syncStatus = (ctx: Ctx, input: { id: string; route_id?: string | undefined }) =>
  read(ctx, async (tx) => routes.driftOf(tx, ctx, await collectionById(tx, ctx, input.id), input.route_id));

/** Brings one member in line: never detaches, never deletes. */
export function resetRoute(ctx: Ctx, input: { id: string; routeId: string }) {
  return mutate(ctx, async (tx) => {
    const collection = await collectionById(tx, ctx, input.id);
    const { status, entry } = await routes.resetToDefaults(tx, ctx, collection, input.routeId);
    return audited(status, entry);
  });
}

/**
 * Moves routes, secrets or clients into the collection; routes join as by PATCH. Besides the collection the caller must be allowed to change
 * that kind of member. @throws Refusal validation_error for an unknown id, forbidden
 */
export async function moveMembers(ctx: Ctx, input: { id: string; type: 'route' | 'secret' | 'client'; ids: string[] }) {
  if (!ctx.actor.capabilities.has(`${input.type}:update`))
    throw new Refusal('forbidden', `Moving a ${input.type} requires the capability ${input.type}:update.`);
  return mutate(ctx, async (tx) => {
    const collection = await collectionById(tx, ctx, input.id);
    const ids = [...new Set(input.ids)];
    const entries =
      input.type === 'route' ? await routes.moveRoutes(tx, ctx, collection, ids) : await assign(tx, ctx, collection.id, input.type, ids);
    const summary = {
      action: 'update',
      resource_type: 'collection',
      resource_id: collection.id,
      name: collection.name,
      details: { change: 'members', type: input.type, ids },
    };
    return audited({ moved: ids.length }, summary, entries);
  });
}

async function assign(tx: Tx, ctx: Ctx, collection_id: string, type: 'secret' | 'client', ids: string[]): Promise<AuditEntry[]> {
  const rows = await heldMembers(tx, ctx, type, ids);
  if (rows.length !== ids.length) throw new Refusal('validation_error', `ids: contains a ${type} that doesn't exist in this space`);
  const moved = rows.filter((row) => row.collection_id !== collection_id);
  const change = { where: { ...own(ctx), id: { in: moved.map((row) => row.id) } }, data: { collection_id, updated_at: ctx.now } };
  if (type === 'secret') {
    await confirmOpened(
      tx,
      ctx,
      moved.map((row) => ({ id: row.id, from: row.collection_id, to: collection_id })),
    );
    await tx.secrets.updateMany(change);
  } else await tx.clients.updateMany(change);
  return moved.map((row) => ({
    action: 'update',
    resource_type: type,
    resource_id: row.id,
    name: row.name,
    changes: [{ field: 'collection_id', from: row.collection_id, to: collection_id }],
  }));
}

type Member = { id: string; name: string; collection_id: string | null };

/** In order of id, as every change of several rows takes them. */
const heldMembers = (tx: Tx, ctx: Ctx, type: 'secret' | 'client', ids: string[]): Promise<Member[]> =>
  type === 'secret'
    ? tx.$queryRaw`select id::text, name, collection_id::text from secrets
        where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and id = any(${ids}::uuid[]) order by id for no key update`
    : tx.$queryRaw`select id::text, name, collection_id::text from clients
        where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and id = any(${ids}::uuid[]) order by id for no key update`;

async function defaultsAnswer(tx: Tx, ctx: Ctx, collection: { id: string; expected_environments: string[]; updated_at: Date }) {
  const environments = await tx.collection_environment_defaults.findMany({
    where: { ...own(ctx), collection_id: collection.id },
    select: { environment_name: true, base_url: true, default_client_ids: true },
    orderBy: { environment_name: 'asc' },
  });
  return { expected_environments: collection.expected_environments, environments, updated_at: collection.updated_at };
}

async function refuseUnknownEnvironments(tx: Tx, ctx: Ctx, expected: string[], environments: { environment_name: string }[]) {
  const named = environments.map((e) => e.environment_name);
  const names = [...expected, ...named];
  // Held until the end: one that is renamed or deleted meanwhile would stay expected under a name that nothing has.
  const known = await tx.$queryRaw<{ name: string }[]>`
    select name from environments where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and name = any(${names}) order by id for share`;
  const isUnknown = (name: string) => !known.some((k) => k.name === name);
  const at = expected.findIndex(isUnknown);
  if (at >= 0) throw invalid(`expected_environments.${at}`, `${expected[at]} is not an environment in this space`);
  const i = named.findIndex(isUnknown);
  if (i >= 0) throw invalid(`environments.${i}.environment_name`, `${named[i]} is not an environment in this space`);
}

async function refuseUnknownClients(tx: Tx, ctx: Ctx, environments: { default_client_ids: string[] }[]) {
  const ids = [...new Set(environments.flatMap((e) => e.default_client_ids))];
  const known = new Set((await tx.clients.findMany({ where: { ...own(ctx), id: { in: ids } }, select: { id: true } })).map(({ id }) => id));
  for (const [i, { default_client_ids }] of environments.entries()) {
    const at = default_client_ids.findIndex((id) => !known.has(id));
    if (at >= 0) throw invalid(`environments.${i}.default_client_ids.${at}`, 'is not a client in this space');
  }
}
