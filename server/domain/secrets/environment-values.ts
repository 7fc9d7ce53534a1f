import type { z } from 'zod';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { keyring } from '#server/platform/keys.ts';
import { requireOwn } from './links.ts';
import type { RestoreValue, UpdateSecretEnvironment } from './schema.ts';
import { requireString } from './service.ts';
import { auditedType, environmentShape, lockedSecret } from './store.ts';
import { resealPrevious, whenSealed, wipeValues, writeValue } from './values.ts';

/**
 * Removes one environment's value and wipes all that was kept of it. The base environment's goes last.
 * @throws Refusal not_found, conflict
 */
export function removeValue(ctx: Ctx, input: { id: string; env: string }) {
  return mutate(ctx, async (tx) => {
    const secret = await lockedSecret(tx, ctx, input.id, { for: 'change' });
    requireOwn(secret);
    const row = await valueIn(tx, ctx, secret.id, input.env);
    const others = await tx.secret_environments.count({ where: { ...own(ctx), secret_id: secret.id, id: { not: row.id } } });
    if (others > 0 && secret.base_environment === input.env)
      throw new Refusal(
        'conflict',
        `${input.env} is the base environment of this secret. Remove the values of the other environments first.`,
      );
    await wipeValues(tx, ctx, { secret_id: secret.id, environment_name: input.env });
    await tx.secret_environments.delete({ where: { id: row.id, ...own(ctx) }, select: { id: true } });
    await tx.secrets.update({
      where: { id: secret.id, ...own(ctx) },
      data: { updated_at: ctx.now, ...(others === 0 ? { base_environment: null } : {}) },
      select: { id: true },
    });
    return audited(
      { deleted: true as const },
      {
        action: 'update',
        resource_type: auditedType(secret),
        resource_id: secret.id,
        name: secret.name,
        details: { change: 'value_removed', environment: input.env },
      },
    );
  });
}

/** Sets or clears the expiry of one environment; null inherits the secret's. @throws Refusal not_found */
export function updateSecretEnvironment(ctx: Ctx, input: z.output<typeof UpdateSecretEnvironment>) {
  return mutate(ctx, async (tx) => {
    const secret = await lockedSecret(tx, ctx, input.id, { for: 'change' });
    requireOwn(secret);
    const before = await valueIn(tx, ctx, secret.id, input.env);
    const after = await tx.secret_environments.update({
      where: { id: before.id, ...own(ctx) },
      data: { expires_at_override: input.expires_at_override, updated_at: ctx.now },
    });
    return audited(environmentShape(after), {
      action: 'update',
      resource_type: auditedType(secret),
      resource_id: secret.id,
      name: secret.name,
      changes: changesOf(before, after, ['expires_at_override']),
      details: { change: 'expiry', environment: input.env },
    });
  });
}

/**
 * Puts the previous value back as a new version; nothing is shown. Owner and Admin only; 24 hours after the change it is wiped.
 * @throws Refusal role_denied, not_found, invalid_type, conflict when none is kept, tenant_sealed
 */
export async function restoreValue(ctx: Ctx, input: z.output<typeof RestoreValue>) {
  if (ctx.actor.type !== 'member' || (ctx.actor.role !== 'owner' && ctx.actor.role !== 'admin'))
    throw new Refusal('role_denied', 'Only an Owner or Admin can restore a previous value.');
  await keyring().activeTmk(ctx.tenant_id).catch(whenSealed);
  return mutate(ctx, async (tx) => {
    const secret = await lockedSecret(tx, ctx, input.id, { for: 'change' });
    requireOwn(secret);
    requireString(secret);
    const environment = input.environment ?? secret.base_environment;
    if (environment === null) throw new Refusal('conflict', NOTHING_KEPT);
    await valueIn(tx, ctx, secret.id, environment);
    const place = { secret_id: secret.id, environment_name: environment };
    const previous = await resealPrevious(tx, ctx, place);
    const version = previous && (await writeValue(tx, ctx, place, previous, '*'));
    if (version === undefined) throw new Refusal('conflict', NOTHING_KEPT);
    await tx.secrets.update({ where: { id: secret.id, ...own(ctx) }, data: { updated_at: ctx.now }, select: { id: true } });
    return audited(
      { id: secret.id, name: secret.name, environment, value_version: version },
      {
        action: 'restore',
        resource_type: auditedType(secret),
        resource_id: secret.id,
        name: secret.name,
        details: { environment, value_version: version },
      },
    );
  });
}

const NOTHING_KEPT = 'There is no previous value for this environment. Previous values are deleted 24 hours after a change.';

async function valueIn(tx: Tx, ctx: Ctx, secretId: string, environment: string) {
  const row = await tx.secret_environments.findFirst({ where: { ...own(ctx), secret_id: secretId, environment_name: environment } });
  if (!row) throw notFound();
  return row;
}
