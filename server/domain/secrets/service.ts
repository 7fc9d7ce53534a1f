import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import type { Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import { pageOf } from '#server/kernel/page.ts';
import { connectionSettings } from './connections/settings.ts';
import { canonicalHostPin } from './hosts.ts';
import { inSharingWorkspace, linkOf, requireOwn } from './links.ts';
import { confirmOpened } from './opening.ts';
import { confirmPins } from './pins.ts';
import type { ForeignMaterial, ListSecrets, PutValue, StringSecret, UpdateSecret } from './schema.ts';
import { environmentFor, lockedEnvironment, requireCollection } from './scope.ts';
import { putSharedValue } from './shared-value.ts';
import { auditedType, findPage, lockedSecret, secretById, withEnvironments } from './store.ts';
import { liveWrapTokens, referencesTo } from './usage.ts';
import { type SealedNewValue, sealNewValue, wipeValues, writeValue } from './values.ts';

export { type CallbackOutcome, consentReturned, fragmentReturned } from './connections/consents.ts';
export { parseDotenv } from './dotenv.ts';
export { canonicalHostPin, hostAllowed, widensPins } from './hosts.ts';
export { insertSecrets, type ManySecrets } from './insert-many.ts';
export {
  type AccessLevel,
  changedElsewhere,
  inSharingWorkspace,
  linkOf,
  linksOf,
  requireOwn,
  type Shared,
  type ShareStatus,
} from './links.ts';
export { confirmOpened } from './opening.ts';
export { confirmPins } from './pins.ts';
export { lockedSecret, secretById } from './store.ts';
export { whenSealed, wipeSuperseded } from './values.ts';

/** A page of secrets with the environments that have a value; never a value. */
export const listSecrets = (ctx: Ctx, query: z.output<typeof ListSecrets>) =>
  read(ctx, async (tx) => {
    const { rows, total } = await findPage(tx, ctx, query);
    return pageOf(rows, total, query);
  });

/** One secret with its environments; never a value. @throws Refusal not_found */
export const getSecret = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => {
    const [row] = await withEnvironments(tx, ctx, [await secretById(tx, ctx, input.id)]);
    if (!row) throw notFound();
    return { ...row, oauth2: connectionSettings(row) };
  });

export type NewSecret = Omit<z.output<typeof StringSecret>, ForeignMaterial>;
/** What every secret has, whatever its type. */
type NewRow = Omit<NewSecret, 'value'>;

/** @throws Refusal plan_limit, conflict, tenant_sealed, validation_error */
export async function createSecret(ctx: Ctx, input: NewSecret) {
  const sealed = input.value === undefined ? null : await sealNewValue(ctx, input.value);
  return mutate(ctx, async (tx) => {
    const { row, entry } = await insertSealed(tx, ctx, input, sealed);
    return audited(row, entry);
  });
}

/** What another type has that a string has not. */
export type TypedSecret =
  | { secret_type: 'string' }
  | { secret_type: 'oauth2'; oauth2_config: Oauth2Config; connected: Connected | null }
  | { secret_type: 'certificate'; cert_metadata: Prisma.InputJsonObject };
/** The tokens that a new connection begins with. */
type Connected = { expires_at: Date | null };

/** A new secret inside another verb's transaction; that verb hands `entry` to its own `audited`. */
export async function insertSecret(tx: Tx, ctx: Ctx, input: NewSecret) {
  return insertSealed(tx, ctx, input, input.value === undefined ? null : await sealNewValue(ctx, input.value));
}

/** A new secret of any type, with its first value. @throws Refusal plan_limit, conflict, validation_error */
export async function insertSealed(
  tx: Tx,
  ctx: Ctx,
  input: NewRow,
  sealed: SealedNewValue | null,
  typed: TypedSecret = { secret_type: 'string' },
) {
  await withinPlan(tx, ctx, 'secrets');
  const environment = await environmentFor(tx, ctx, input.environment);
  await requireCollection(tx, ctx, input.collection_id);
  const {
    description = null,
    collection_id = null,
    expires_at = null,
    strict_expiry_enforcement = false,
    tags = [],
    rotate_every_days = null,
  } = input;
  const row = await tx.secrets
    .create({
      data: {
        ...own(ctx),
        id: newId(),
        ...namesOf(input.name),
        secret_type: typed.secret_type,
        ...(typed.secret_type === 'oauth2' ? { oauth2_config: typed.oauth2_config } : {}),
        base_environment: sealed && environment,
        ...{ description, collection_id, expires_at, strict_expiry_enforcement, tags, rotate_every_days },
        ...pinsOf(input.allowed_hosts ?? null),
        created_by: ctx.actor.id,
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    })
    .catch(onUnique(TAKEN));
  const place = { secret_id: row.id, environment_name: environment };
  if (sealed) await writeValue(tx, ctx, place, sealed);
  if (typed.secret_type !== 'string')
    await tx.secret_environments.updateMany({ where: { ...own(ctx), ...place }, data: environmentOf(ctx, typed) });
  const entry: AuditEntry = {
    action: 'create',
    resource_type: 'secret',
    resource_id: row.id,
    name: row.name,
    details: {
      ...(sealed ? { environment, value_version: 1 } : {}),
      ...(typed.secret_type === 'string' ? {} : { secret_type: typed.secret_type }),
    },
  };
  return { row: { ...row, secret_type: typed.secret_type, environment_count: sealed ? 1 : 0 }, entry };
}

const environmentOf = (ctx: Ctx, typed: Exclude<TypedSecret, { secret_type: 'string' }>) =>
  typed.secret_type === 'certificate'
    ? { cert_metadata: typed.cert_metadata }
    : typed.connected
      ? { oauth2_status: 'connected', oauth2_expires_at: typed.connected.expires_at, oauth2_refreshed_at: ctx.now, refresh_generation: 1 }
      : { oauth2_status: 'pending' };

type NewLinked = { id: string; linked_share_id: string; secret_type: string; name: string; collection_id: string | null };

/** A secret of this workspace that leads to one of another, for a claim in its transaction. It counts towards the plan like any other. */
export async function insertLinked(
  tx: Tx,
  ctx: Ctx,
  { name, ...linked }: NewLinked,
): Promise<{ row: { id: string; name: string }; entry: AuditEntry }> {
  await withinPlan(tx, ctx, 'secrets');
  await requireCollection(tx, ctx, linked.collection_id);
  const row = await tx.secrets
    .create({ data: { ...own(ctx), ...linked, ...namesOf(name), created_by: ctx.actor.id, created_at: ctx.now, updated_at: ctx.now } })
    .catch(onUnique(TAKEN));
  const entry: AuditEntry = {
    action: 'create',
    resource_type: 'secret',
    resource_id: row.id,
    name: row.name,
    details: { linked_share_id: linked.linked_share_id },
  };
  return { row, entry };
}

/** A value that is pinned never follows to further hosts unless that is confirmed. @throws Refusal not_found, conflict when the name is taken, what `confirmPins` throws */
export function updateSecret(ctx: Ctx, { id, ...input }: z.output<typeof UpdateSecret>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedSecret(tx, ctx, id, { for: 'change' });
    if (Object.entries(input).some(([field, given]) => given !== undefined && !OF_LINKS.has(field))) requireOwn(before);
    await requireCollection(tx, ctx, input.collection_id);
    if (input.collection_id !== undefined)
      await confirmOpened(tx, ctx, [{ id: before.id, from: before.collection_id, to: input.collection_id }]);
    if (before.is_escrow && input.allowed_hosts !== undefined)
      throw invalid('allowed_hosts', 'are changed with PATCH /wrap/credentials/{secret_id}: this secret is a wrap credential');
    const { name, allowed_hosts, ...plain } = input;
    const after_hosts = allowed_hosts && canonicalHosts(allowed_hosts);
    const move =
      after_hosts === undefined
        ? {}
        : await confirmPins(tx, ctx, [{ before, after: after_hosts }], { field: 'allowed_hosts', route: 'secrets.update' });
    const after = await tx.secrets
      .update({
        where: { id: before.id, ...own(ctx) },
        data: {
          ...plain,
          ...(name === undefined ? {} : namesOf(name)),
          ...(allowed_hosts === undefined ? {} : pinsOf(allowed_hosts)),
          updated_at: ctx.now,
        },
      })
      .catch(onUnique(TAKEN));
    const given = Object.keys(input).filter((field) => input[field as keyof typeof input] !== undefined);
    if (after.name !== before.name) await warnOfNameReferences(tx, ctx, before);
    return audited(after, {
      action: 'update',
      resource_type: auditedType(after),
      resource_id: after.id,
      name: after.name,
      changes: changesOf(before, after, given),
      details: { change: kindOfChange(given), ...move },
    });
  });
}

/**
 * A new value for one environment; takes effect with the next call through the gateway. Every write counts, equal bytes included.
 * @throws Refusal not_found, invalid_type, conflict when If-Match names another version, tenant_sealed
 */
export async function putValue(ctx: Ctx, input: z.output<typeof PutValue>) {
  const linked = await read(ctx, (tx) => linkByRef(tx, ctx, input.id));
  if (linked) return putSharedValue(ctx, input, linked, versionOf(input.if_match));
  const expected = versionOf(input.if_match);
  const sealed = await sealNewValue(ctx, input.value);
  return mutate(ctx, async (tx) => {
    const environment = await lockedEnvironment(tx, ctx, input);
    const secret = await lockedSecret(tx, ctx, input.id, { for: 'change' });
    requireOwn(secret);
    requireString(secret);
    const version = await writeValue(tx, ctx, { secret_id: secret.id, environment_name: environment }, sealed, expected);
    if (version === undefined)
      throw new Refusal(
        'conflict',
        `The value of ${secret.name} in ${environment} doesn't have the version in If-Match. Read the secret again and retry.`,
      );
    await tx.secrets.update({
      where: { id: secret.id, ...own(ctx) },
      data: { updated_at: ctx.now, ...(secret.base_environment === null ? { base_environment: environment } : {}) },
      select: { id: true },
    });
    return audited(
      { id: secret.id, name: secret.name, environment, value_version: version },
      {
        action: 'rotate',
        resource_type: auditedType(secret),
        resource_id: secret.id,
        name: secret.name,
        details: { environment, value_version: version, kind: 'value_set' },
      },
    );
  });
}

/** A new value of a string secret inside another verb's transaction; that verb hands `entry` to its own `audited`. @throws Refusal as `putValue` */
export async function insertVersion(tx: Tx, ctx: Ctx, input: { id: string; environment: string; value: string | Uint8Array }) {
  const sealed = await sealNewValue(ctx, input.value);
  const environment = await lockedEnvironment(tx, ctx, input);
  const secret = await lockedSecret(tx, ctx, input.id, { for: 'change' });
  requireString(secret);
  const value_version = await writeValue(tx, ctx, { secret_id: secret.id, environment_name: environment }, sealed);
  await tx.secrets.update({
    where: { id: secret.id, ...own(ctx) },
    data: { updated_at: ctx.now, ...(secret.base_environment === null ? { base_environment: environment } : {}) },
    select: { id: true },
  });
  const details = { environment, value_version, kind: 'value_set' };
  const entry: AuditEntry = { action: 'rotate', resource_type: 'secret', resource_id: secret.id, name: secret.name, details };
  return { id: secret.id, name: secret.name, entry };
}

/** Removes the secret and wipes every value of it. @throws Refusal not_found, in_use while anything refers to it */
export function deleteSecret(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    const secret = await lockedSecret(tx, ctx, input.id, { for: 'delete' });
    await removeSecret(tx, ctx, secret);
    return audited(
      { deleted: true as const },
      { action: 'delete', resource_type: auditedType(secret), resource_id: secret.id, name: secret.name },
    );
  });
}

/** The same inside another verb's transaction, of a secret that is locked for deletion. @throws Refusal in_use */
export async function removeSecret(tx: Tx, ctx: Ctx, secret: { id: string; linked_share_id: string | null }): Promise<void> {
  const tokens = await liveWrapTokens(tx, ctx, secret.id);
  if (tokens > 0)
    throw new Refusal(
      'in_use',
      `${tokens === 1 ? 'A gateway token stands' : `${tokens} gateway tokens stand`} for this secret. Revoke ${tokens === 1 ? 'it' : 'them'} first.`,
    );
  const references = await referencesTo(tx, ctx, secret.id);
  if (references.length > 0) {
    const named = references.slice(0, 5).map((r) => `${r.kind.replaceAll('_', ' ')} ${r.name ?? r.id}`);
    throw new Refusal(
      'in_use',
      `The secret is still used by ${named.join(', ')}${references.length > 5 ? ' and more' : ''}. Remove those references first.`,
    );
  }
  if (secret.linked_share_id !== null) await leaveShare(tx, ctx, secret.linked_share_id);
  await wipeValues(tx, ctx, { secret_id: secret.id });
  // The certificate of a connection that goes is free again.
  await tx.secret_references.deleteMany({ where: { ...own(ctx), kind: 'oauth2_secret', referrer_id: secret.id } });
  await tx.secrets.delete({ where: { id: secret.id, ...own(ctx) }, select: { id: true } });
}

/** The database marks the share as left when the linked secret goes; this tells its owner. A tombstone has nobody to tell. */
async function leaveShare(tx: Tx, ctx: Ctx, shareId: string): Promise<void> {
  const link = (await tx.$queryRaw<{ n: number }[]>`select 1 as n from sharing_workspace(${shareId}::uuid)`).length > 0;
  if (!link) return;
  await inSharingWorkspace(tx, ctx, shareId, async (_there, shared) =>
    audited(undefined, {
      action: 'update',
      resource_type: 'secret_share',
      resource_id: shareId,
      name: shared.secret_name,
      details: { change: 'left', secret_id: shared.secret_id },
    }),
  );
}

const linkByRef = async (tx: Tx, ctx: Ctx, id: string) => {
  const secret = await secretById(tx, ctx, id);
  const link = await linkOf(tx, ctx, secret);
  return link && { secret, link };
};

/** What a workspace may change of a secret that is shared with it. */
const OF_LINKS: ReadonlySet<string> = new Set(['name', 'collection_id']);

/** The secret a template or a body names, or null; names are exact and case-sensitive (interface rule 30 §5). */
export const secretByRef = (tx: Tx, ctx: Ctx, ref: { id: string } | { name: string }) =>
  tx.secrets.findFirst({ where: { ...own(ctx), ...('id' in ref ? { id: ref.id } : { shortcode_name: ref.name }) } });

/** @throws Refusal invalid_type: values of other types have their own verbs */
export function requireString(secret: { secret_type: string }): void {
  if (secret.secret_type !== 'string')
    throw new Refusal('invalid_type', `This secret is of type ${secret.secret_type}. This call only supports string secrets.`);
}

const TAKEN = 'A secret with this name already exists. Names must differ by more than case.';

const namesOf = (name: string) => ({ name, shortcode_name: name });

/** Stored form of host pins. @throws Refusal validation_error */
function pinsOf(hosts: readonly string[] | null): { allowed_hosts: string[] | typeof Prisma.DbNull } {
  if (hosts === null) return { allowed_hosts: Prisma.DbNull };
  return { allowed_hosts: canonicalHosts(hosts) };
}

/** @throws Refusal validation_error */
export function canonicalHosts(hosts: readonly string[]): string[] {
  const pins = hosts.map((host, i) => {
    const pin = canonicalHostPin(host);
    if (!pin.ok) throw invalid(`allowed_hosts.${i}`, pin.problem);
    return pin.value;
  });
  return [...new Set(pins)];
}

/** `"3"`, `3` or `*` of an If-Match header. */
function versionOf(header: string | undefined): number | '*' | undefined {
  if (header === undefined || header === '*') return header;
  return Number(header.replaceAll('"', ''));
}

/** References by id survive a rename; references by name stop resolving. */
async function warnOfNameReferences(tx: Tx, ctx: Ctx, before: { id: string; name: string }): Promise<void> {
  const references = (await referencesTo(tx, ctx, before.id)).filter((r) => r.by === 'name');
  if (references.length === 0) return;
  const named = [...new Set(references.map((r) => `${r.kind.replaceAll('_', ' ')} ${r.name ?? r.id}`))];
  ctx.warnings.push(
    `{{secret:${before.name}}} no longer resolves but is still used by ${named.slice(0, 5).join(', ')}${named.length > 5 ? ' and more' : ''}. Change it to {{secret_id:${before.id}}}.`,
  );
}

function kindOfChange(fields: readonly string[]): 'metadata' | 'expiry' | 'allowed_hosts' {
  if (fields.every((f) => f === 'expires_at' || f === 'strict_expiry_enforcement')) return 'expiry';
  return fields.every((f) => f === 'allowed_hosts') ? 'allowed_hosts' : 'metadata';
}
