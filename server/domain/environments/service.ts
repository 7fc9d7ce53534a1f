import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import type { CreateEnvironment, UpdateEnvironment } from './schema.ts';

/** Every environment of the space: the default first, then by name. */
export const listEnvironments = (ctx: Ctx) =>
  read(ctx, (tx) => tx.environments.findMany({ where: own(ctx), orderBy: [{ is_default: 'desc' }, { name: 'asc' }] }));

/** @throws Refusal plan_limit 403, conflict when the name is taken */
export function createEnvironment(ctx: Ctx, input: z.output<typeof CreateEnvironment>) {
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    await withinPlan(tx, ctx, 'environments');
    if (input.is_default) await clearDefault(tx, ctx);
    const row = await tx.environments
      .create({
        data: {
          ...own(ctx),
          ...input,
          id: newId(),
          display_name: input.display_name ?? titleOf(input.name),
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('An environment with this name already exists.'));
    return audited(row, { action: 'create', resource_type: 'environment', resource_id: row.id, name: row.name });
  });
}

/** A new name goes along everywhere the old one is written. @throws Refusal not_found, conflict when it is taken */
export function updateEnvironment(ctx: Ctx, { id, ...input }: z.output<typeof UpdateEnvironment>) {
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    const before = await environmentById(tx, ctx, id);
    if (input.is_default === false && before.is_default)
      throw invalid('is_default', "can't be turned off: make another environment the default instead");
    if (input.is_default && !before.is_default) await clearDefault(tx, ctx);
    const after = await tx.environments
      .update({ where: { id: before.id, ...own(ctx) }, data: { ...input, updated_at: ctx.now } })
      .catch(onUnique('An environment with this name already exists.'));
    if (after.name !== before.name) await renameEverywhere(tx, ctx, before.name, after.name);
    return audited(after, {
      action: 'update',
      resource_type: 'environment',
      resource_id: after.id,
      name: after.name,
      changes: changesOf(before, after, Object.keys(input)),
    });
  });
}

/** @throws Refusal validation_error for the default, in_use while a route configuration or a secret value names it */
export function deleteEnvironment(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    const row = await environmentById(tx, ctx, input.id);
    // Waits for whoever is about to use it, so that the look below sees that use.
    await tx.$queryRaw`select 1 from environments where id = ${row.id}::uuid for update`;
    if (row.is_default)
      throw new Refusal('validation_error', "The default environment can't be deleted. Make another environment the default first.");
    await refuseWhileUsed(tx, ctx, row);
    const expected_by = await forgetEverywhere(tx, ctx, row.name);
    await tx.environments.delete({ where: { id: row.id, ...own(ctx) } });
    return audited(
      { deleted: true as const },
      {
        action: 'delete',
        resource_type: 'environment',
        resource_id: row.id,
        name: row.name,
        ...(expected_by.length > 0 ? { details: { expected_by } } : {}),
      },
    );
  });
}

/** Other families name environments in bodies and paths by name. */
export const environmentByName = (tx: Tx, ctx: Ctx, name: string) => tx.environments.findFirst({ where: { ...own(ctx), name } });

/**
 * The same for whoever writes that name or id down: held against rename and deletion until the end of the transaction, or a rename that runs
 * beside it would leave the old name behind. Lock routes and secrets after it or before it, their configurations and values only after it.
 */
export async function heldEnvironment(tx: Tx, ctx: Ctx, name: string) {
  await tx.$queryRaw`select 1 from environments where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and name = ${name} for share`;
  return environmentByName(tx, ctx, name);
}

/** The default environment of the space; every space has exactly one. */
export const defaultEnvironment = (tx: Tx, ctx: Ctx) => tx.environments.findFirstOrThrow({ where: { ...own(ctx), is_default: true } });

/** The environment every space starts with (interface rule 11 §6); called by sign-up inside its own transaction. */
export const firstEnvironment = (tx: Tx, tenantId: string, sandbox: boolean, now: Date) =>
  tx.environments.create({
    data: {
      id: newId(),
      tenant_id: tenantId,
      sandbox,
      name: 'production',
      display_name: 'Production',
      color: '#22c55e',
      is_default: true,
      created_at: now,
    },
  });

/** @throws Refusal not_found */
export async function environmentById(tx: Tx, ctx: Ctx, id: string) {
  const row = isUuid(id) ? await tx.environments.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** As by id, holding the row until the transaction ends; rows that refer to it stay free. */
export async function lockedEnvironment(tx: Tx, ctx: Ctx, id: string) {
  await inTurn(tx, ctx);
  if (isUuid(id))
    await tx.$queryRaw`select 1 from environments where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for no key update`;
  return environmentById(tx, ctx, id);
}

/**
 * Changes of a space's environments run one after the other: which one is the default is judged and changed in one step. Taken before any row of
 * theirs is locked.
 */
export const inTurn = (tx: Tx, ctx: Ctx) => holdLock(tx, `${ctx.tenant_id}:environments:${ctx.sandbox}`);

const clearDefault = (tx: Tx, ctx: Ctx) =>
  tx.environments.updateMany({ where: { ...own(ctx), is_default: true }, data: { is_default: false, updated_at: ctx.now } });

/** The name is a foreign key by text in several places; all follow in the same transaction. */
async function renameEverywhere(tx: Tx, ctx: Ctx, from: string, to: string) {
  await tx.route_environment_configs.updateMany({ where: { ...own(ctx), environment_name: from }, data: { environment_name: to } });
  await tx.secret_environments.updateMany({ where: { ...own(ctx), environment_name: from }, data: { environment_name: to } });
  await tx.secret_shares.updateMany({ where: { ...own(ctx), environment_name: from }, data: { environment_name: to } });
  await tx.secret_references.updateMany({ where: { ...own(ctx), referrer_env: from }, data: { referrer_env: to } });
  await tx.secrets.updateMany({ where: { ...own(ctx), base_environment: from }, data: { base_environment: to } });
  await tx.collection_environment_defaults.updateMany({ where: { ...own(ctx), environment_name: from }, data: { environment_name: to } });
  await tx.$executeRaw`update collections set expected_environments = array_replace(expected_environments, ${from}, ${to}) where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${from} = any(expected_environments)`;
}

/** A collection that went on expecting it could not be saved again, and would take up the next environment of that name. @returns their names */
async function forgetEverywhere(tx: Tx, ctx: Ctx, name: string): Promise<string[]> {
  await tx.collection_environment_defaults.deleteMany({ where: { ...own(ctx), environment_name: name } });
  const rows = await tx.$queryRaw<{ name: string }[]>`
    update collections set expected_environments = array_remove(expected_environments, ${name}), updated_at = ${ctx.now}
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and ${name} = any(expected_environments) returning name`;
  return rows.map((row) => row.name).sort();
}

async function refuseWhileUsed(tx: Tx, ctx: Ctx, row: { id: string; name: string }) {
  const routes = await tx.route_environment_configs.findMany({
    where: { ...own(ctx), environment_id: row.id },
    select: { route: { select: { name: true } } },
    take: 6,
  });
  if (routes.length > 0)
    throw new Refusal(
      'in_use',
      `Routes still serve this environment: ${routes
        .slice(0, 5)
        .map((r) => r.route.name)
        .join(', ')}${routes.length > 5 ? ' and more' : ''}. Remove their configuration first.`,
    );
  const secrets = await tx.secret_environments.findMany({
    where: { ...own(ctx), environment_name: row.name },
    select: { secret: { select: { name: true } } },
    take: 6,
  });
  if (secrets.length > 0)
    throw new Refusal(
      'in_use',
      `Secrets still hold a value for this environment: ${secrets
        .slice(0, 5)
        .map((s) => s.secret.name)
        .join(', ')}${secrets.length > 5 ? ' and more' : ''}. Remove those values first.`,
    );
}

/** `eu-west` is "Eu West". */
export const titleOf = (name: string) =>
  name
    .split(/[-_]+/)
    .filter(Boolean)
    .map((w) => w[0]?.toUpperCase() + w.slice(1))
    .join(' ') || name;
