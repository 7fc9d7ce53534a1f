import type { z } from 'zod';
import { assertUsesSecrets } from '#server/domain/policies/service.ts';
import { confirmVariables } from '#server/domain/routes/retargeting/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { containsCredential } from '#server/kernel/credential-patterns.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { bumpMembers, collectionById } from '../service.ts';
import type { CreateVariable, UpdateVariable } from './schema.ts';
import { namesUsing, routesAimedBy, usersOfVariables } from './usage.ts';

/** Every variable of a collection, by key. */
export function listVariables(ctx: Ctx, input: { id: string }) {
  return read(ctx, async (tx) => {
    const collection = await collectionById(tx, ctx, input.id);
    return tx.collection_variables.findMany({ where: { ...own(ctx), collection_id: collection.id }, orderBy: { key: 'asc' } });
  });
}

/** @throws Refusal conflict when the key is taken */
export function createVariable(ctx: Ctx, { id, ...input }: z.output<typeof CreateVariable>) {
  return mutate(ctx, async (tx) => {
    const collection = await collectionById(tx, ctx, id);
    const content = await contentOf(tx, ctx, {
      type: input.type ?? 'value',
      value: input.value ?? null,
      secret_id: input.secret_id ?? null,
    });
    const row = await tx.collection_variables
      .create({
        data: {
          ...own(ctx),
          ...content,
          id: newId(),
          collection_id: collection.id,
          key: input.key,
          description: input.description ?? null,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('This collection already has a variable with this key.'));
    await referTo(tx, ctx, row);
    await bumpMembers(tx, ctx, collection.id);
    return audited(row, entry(collection, row, 'variable.create'));
  });
}

/**
 * A value in the target of routes says where they send what they hold, so it is changed by who may change such a target.
 * @throws Refusal in_use when a key that templates name would change; forbidden, role_denied, mfa_required, step_up_required
 */
export function updateVariable(ctx: Ctx, { id, variableId, ...input }: z.output<typeof UpdateVariable>) {
  return mutate(ctx, async (tx) => {
    const collection = await collectionById(tx, ctx, id);
    const before = await variableById(tx, ctx, collection.id, variableId);
    const type = input.type ?? (before.type as 'value' | 'secret');
    const content = await contentOf(
      tx,
      ctx,
      {
        type,
        // Switching the type drops the content of the other kind.
        value: input.value !== undefined ? input.value : type === 'value' ? before.value : null,
        secret_id: input.secret_id !== undefined ? input.secret_id : type === 'secret' ? before.secret_id : null,
      },
      before,
    );
    await refuseBreaking(tx, ctx, collection, before, { key: input.key ?? before.key, type });
    if (content.value !== null && content.value !== before.value)
      await confirmVariables(tx, ctx, await routesAimedBy(tx, ctx, collection, [before.key]), {
        collection_id: collection.id,
        values: new Map([[before.key, content.value]]),
      });
    const after = await tx.collection_variables
      .update({
        where: { id: before.id, ...own(ctx) },
        data: {
          ...content,
          ...(input.key === undefined ? {} : { key: input.key }),
          ...(input.description === undefined ? {} : { description: input.description }),
          updated_at: ctx.now,
        },
      })
      .catch(onUnique('This collection already has a variable with this key.'));
    await referTo(tx, ctx, after);
    await bumpMembers(tx, ctx, collection.id);
    const fields = ['key', 'type', 'secret_id', 'description'].filter((f) => before[f as 'key'] !== after[f as 'key']);
    const changes = [
      ...changesOf(before, after, fields),
      ...(before.value === after.value ? [] : [{ field: 'value', changed: true as const }]),
    ];
    return audited(after, { ...entry(collection, after, 'variable.update'), changes });
  });
}

/** @throws Refusal in_use while a template names it */
export function deleteVariable(ctx: Ctx, input: { id: string; variableId: string }) {
  return mutate(ctx, async (tx) => {
    const collection = await collectionById(tx, ctx, input.id);
    const row = await variableById(tx, ctx, collection.id, input.variableId);
    const users = await usersOfVariables(tx, ctx, collection, row.key);
    if (users.length > 0) throw new Refusal('in_use', `The variable is used by ${namesUsing(users)}. Remove those references first.`);
    await tx.secret_references.deleteMany({ where: { ...own(ctx), kind: 'collection_variable', referrer_id: row.id } });
    await tx.collection_variables.delete({ where: { id: row.id, ...own(ctx) } });
    await bumpMembers(tx, ctx, collection.id);
    return audited({ deleted: true as const }, entry(collection, row, 'variable.delete'));
  });
}

type Content = { type: 'value' | 'secret'; value: string | null; secret_id: string | null };

/** Exactly one of value and secret_id, matching the type; a value that looks like a key belongs into a secret. */
async function contentOf(tx: Tx, ctx: Ctx, content: Content, before?: { secret_id: string | null }): Promise<Content> {
  const { type, value, secret_id } = content;
  if (type === 'value') {
    if (value === null) throw invalid('value', 'is required for variables of type value');
    if (secret_id !== null) throw invalid('secret_id', 'is only for variables of type secret');
    if (containsCredential(value)) throw invalid('value', 'looks like a credential; store it as a secret and use type secret');
    return content;
  }
  if (value !== null) throw invalid('value', 'is only for variables of type value');
  if (secret_id === null) throw invalid('secret_id', 'is required for variables of type secret');
  const secret = await tx.secrets.findFirst({ where: { ...own(ctx), id: secret_id }, select: { secret_type: true } });
  if (!secret) throw invalid('secret_id', 'no such secret in this space');
  if (secret.secret_type === 'certificate') throw invalid('secret_id', "is a certificate, which can't be injected");
  if (secret_id !== before?.secret_id) await assertUsesSecrets(ctx, [secret_id], 'a variable');
  return content;
}

async function refuseBreaking(
  tx: Tx,
  ctx: Ctx,
  collection: { id: string; slug: string },
  before: { key: string; type: string },
  after: { key: string; type: string },
) {
  const renamed = before.key !== after.key;
  const hidden = before.type !== after.type && after.type === 'secret';
  if (!renamed && !hidden) return;
  const users = await usersOfVariables(tx, ctx, collection, before.key);
  if (renamed && users.length > 0) throw new Refusal('in_use', `The key is used by ${namesUsing(users)}. Remove those references first.`);
  const targets = users.filter((u) => u.in_target);
  if (hidden && targets.length > 0) throw invalid('type', `must stay value because target URLs use it: ${namesUsing(targets)}`);
}

/** A secret behind a variable is in use. */
async function referTo(tx: Tx, ctx: Ctx, row: { id: string; secret_id: string | null }) {
  await tx.secret_references.deleteMany({ where: { ...own(ctx), kind: 'collection_variable', referrer_id: row.id } });
  if (row.secret_id === null) return;
  const data = {
    ...own(ctx),
    id: newId(),
    secret_id: row.secret_id,
    kind: 'collection_variable',
    referrer_id: row.id,
    field_path: 'secret_id',
    by: 'id',
  };
  await tx.secret_references.create({ data, select: { id: true } });
}

async function variableById(tx: Tx, ctx: Ctx, collectionId: string, id: string) {
  const row = isUuid(id) ? await tx.collection_variables.findFirst({ where: { ...own(ctx), collection_id: collectionId, id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** The variable's row, held until the transaction ends. */
export async function lockedVariable(tx: Tx, ctx: Ctx, { id, variableId }: { id: string; variableId: string }) {
  const collection = await collectionById(tx, ctx, id);
  const { id: found } = await variableById(tx, ctx, collection.id, variableId);
  await tx.$queryRaw`select 1 from collection_variables where id = ${found}::uuid for no key update`;
  return variableById(tx, ctx, collection.id, found);
}

const entry = (collection: { id: string; name: string }, row: { id: string; key: string }, change: string) => ({
  action: 'update',
  resource_type: 'collection',
  resource_id: collection.id,
  name: collection.name,
  details: { change, variable_id: row.id, key: row.key },
});
