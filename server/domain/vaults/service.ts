import type { z } from 'zod';
import { sealNewIndexKey } from '#server/custody/vaults/blind-index.ts';
import { createKey, destroyAllVersions, newVersion, rotateKey } from '#server/domain/crypto-keys/service.ts';
import { requireFeature, withinPlan } from '#server/domain/plans/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { adds, type Looser, loosened } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { env } from '#server/platform/env.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { ALPHABETS } from './formats.shared.ts';
import { beginRewrap } from './rewrap.ts';
import type { CreateVault, ListVaults, RotateVault, UpdateVault } from './schema.ts';
import { detailsOf } from './stats.ts';
import { lockedVault, personOf, SEALED, type VaultRow, vaultByRef } from './store.ts';
import { usersOfVault } from './usage.ts';

export { lockedVault, vaultByRef } from './store.ts';

export const listVaults = (ctx: Ctx, query: z.output<typeof ListVaults>) =>
  read(ctx, async (tx) => {
    const { ids, total } = await listIds(tx, ctx, {
      ...query,
      table: 'vaults',
      filters: [{ where: () => 'deleted_at is null', count: countVaults }],
    });
    const rows = await tx.vaults.findMany({ where: { ...own(ctx), id: { in: ids } }, omit: SEALED });
    return pageOf(inOrder(ids, rows as VaultRow[]), total, query);
  });

async function countVaults(tx: Tx, ctx: Ctx): Promise<number> {
  const row = await tx.row_counts.findUnique({ where: { tenant_id_sandbox_kind: { ...own(ctx), kind: 'vaults' } } });
  return Number(row?.n ?? 0n);
}

export const getVault = (ctx: Ctx, { vault }: { vault: string }) =>
  read(ctx, async (tx) => {
    const row = await vaultByRef(tx, ctx, vault);
    return { ...row, ...(await detailsOf(tx, ctx, row)) };
  });

/**
 * The vault, its key and the key's first version come in one transaction.
 * @throws Refusal validation_error, plan_limit, plan_feature for dual custody, conflict when the name is taken, tenant_sealed
 */
export async function createVault(ctx: Ctx, { alphabet, ...input }: z.output<typeof CreateVault>) {
  const dual = input.custody_mode === 'dual';
  if (dual) requireFeature(ctx, 'vault_dual_custody');
  assertFits({ alphabet, ...input });
  const key_type = dual ? 'ecdh-p256' : 'aes256-gcm';
  const id = newId();
  const [first, indexKey] = await Promise.all([newVersion(ctx, key_type), input.dedupe ? sealNewIndexKey(ctx, id) : null]);
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'vaults');
    const { key, entry } = await createKey(tx, ctx, { name: `vault.${id}`, key_type, managed_by: 'vault' }, first);
    const row = (await tx.vaults
      .create({
        data: {
          ...own(ctx),
          ...input,
          ...indexKey,
          id,
          alphabet: alphabet === undefined ? null : charactersOf(alphabet),
          metadata_jsonb: (input.metadata_jsonb ?? {}) as Prisma.InputJsonObject,
          allowed_hosts: input.allowed_hosts ?? Prisma.DbNull,
          crypto_key_id: key.id,
          created_by: personOf(ctx),
          created_at: ctx.now,
          updated_at: ctx.now,
        },
        omit: SEALED,
      })
      .catch(onUnique('A vault with this name already exists. Names are compared without case.'))) as VaultRow;
    return audited(
      row,
      entryOf('create', row, { token_format: row.token_format, custody_mode: row.custody_mode, dedupe: row.dedupe }),
      entry,
    );
  });
}

const charactersOf = (alphabet: string): string =>
  Object.hasOwn(ALPHABETS, alphabet) ? ALPHABETS[alphabet as keyof typeof ALPHABETS] : alphabet;

type Asked = Pick<z.output<typeof CreateVault>, 'alphabet' | 'custody_mode' | 'dedupe' | 'default_ttl_seconds' | 'token_format'>;

/** Options that exclude each other. @throws Refusal validation_error */
function assertFits({ alphabet, custody_mode, dedupe, default_ttl_seconds = null, token_format }: Asked): void {
  const ff1 = token_format === 'ff1';
  if (ff1 && alphabet === undefined)
    throw invalid('alphabet', `is required for token_format ff1: ${Object.keys(ALPHABETS).join(', ')}, or the characters themselves`);
  if (!ff1 && alphabet !== undefined) throw invalid('alphabet', 'is only for token_format ff1');
  if (ff1 && dedupe) throw invalid('dedupe', "isn't needed for token_format ff1: a value always has the same token");
  if (ff1 && default_ttl_seconds !== null) throw invalid('default_ttl_seconds', "can't be kept: tokens of format ff1 don't expire");
  if (custody_mode !== 'dual') return;
  if (token_format !== 'generic') throw invalid('token_format', 'must be generic, or left out, with custody_mode dual');
  if (dedupe) throw invalid('dedupe', "can't be used with custody_mode dual: the service stores no value to compare");
}

type Settings = Pick<z.output<typeof UpdateVault>, 'default_ttl_seconds' | 'description' | 'enabled' | 'metadata_jsonb' | 'allowed_hosts'>;

/** Where calls may send the values of a vault is all that a change of it can open. */
export const VAULT_PROTECTIONS: Looser<Settings> = {
  default_ttl_seconds: 'harmless',
  description: 'harmless',
  enabled: 'harmless',
  metadata_jsonb: 'harmless',
  allowed_hosts: (before, after) => before !== null && (after === null || adds(before, after)),
};

/** @throws Refusal not_found, conflict, validation_error for what can't change */
export function updateVault(ctx: Ctx, { vault, ...input }: z.output<typeof UpdateVault>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedVault(tx, ctx, vault);
    if (before.token_format === 'ff1' && input.default_ttl_seconds != null)
      throw invalid('default_ttl_seconds', "can't be kept: tokens of format ff1 don't expire");
    const { default_ttl_seconds, description, enabled, metadata_jsonb, allowed_hosts } = input;
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(before, input, VAULT_PROTECTIONS));
    const after = (await tx.vaults.update({
      where: { id: before.id, ...own(ctx) },
      data: {
        default_ttl_seconds,
        description,
        enabled,
        metadata_jsonb: metadata_jsonb as Prisma.InputJsonObject | undefined,
        allowed_hosts: allowed_hosts === null ? Prisma.DbNull : allowed_hosts,
        updated_at: ctx.now,
      },
      omit: SEALED,
    })) as VaultRow;
    const switched = after.enabled !== before.enabled;
    const changes = changesOf(
      before,
      after,
      Object.keys(input).filter((field) => field !== 'enabled'),
    );
    const entries: AuditEntry[] = [
      ...(switched ? [entryOf(after.enabled ? 'enable' : 'disable', after)] : []),
      ...(changes.length > 0 ? [{ ...entryOf('update', after), changes }] : []),
    ];
    const [first, ...more] = entries;
    return first ? audited(after, first, more) : unchanged(after);
  });
}

/**
 * New tokens are sealed under a new version of the key. With `rewrap` a job moves the values of earlier tokens to it.
 * @throws Refusal not_found, conflict for a vault of format ff1, in_use with 100 live versions, tenant_sealed
 */
export async function rotateVault(ctx: Ctx, { vault, rewrap }: z.output<typeof RotateVault>) {
  const row = await read(ctx, (tx) => vaultByRef(tx, ctx, vault));
  if (row.token_format === 'ff1')
    throw new Refusal(
      'conflict',
      "A vault of format ff1 can't rotate its key: tokens don't say under which version they were made. Create another vault.",
    );
  if (rewrap && row.custody_mode === 'dual') throw invalid('rewrap', "can't be used with custody_mode dual: the service stores no values");
  const next = await newVersion(ctx, row.custody_mode === 'dual' ? 'ecdh-p256' : 'aes256-gcm');
  return mutate(ctx, async (tx) => {
    const held = await lockedVault(tx, ctx, row.id);
    const { from_version, to_version, entry } = await rotateKey(tx, ctx, held.crypto_key_id, { next });
    await tx.vaults.update({ where: { id: held.id, ...own(ctx) }, data: { updated_at: ctx.now } });
    if (rewrap) await beginRewrap(tx, ctx, held.id, to_version);
    const changes = [{ field: 'key_version', from: from_version, to: to_version }];
    return audited({ new_version: to_version }, { ...entryOf('update', held, { rewrap }), changes }, entry);
  });
}

/**
 * Shreds the vault: its key is destroyed in this transaction, and with it every value. A job then removes the tokens.
 * @throws Refusal not_found, in_use while a route names the vault
 */
export function deleteVault(ctx: Ctx, { vault }: { vault: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedVault(tx, ctx, vault);
    const users = await usersOfVault(tx, ctx, row);
    if (users.length > 0)
      throw new Refusal('in_use', `${row.name} is still used by ${users.slice(0, 5).join(', ')}${users.length > 5 ? ' and more' : ''}.`);
    const counted = await tx.vault_token_counts.findFirst({ where: { ...own(ctx), vault_id: row.id } });
    const { entry } = await destroyAllVersions(tx, ctx, row.crypto_key_id);
    await tx.client_tokens.updateMany({
      where: { ...own(ctx), vault_id: row.id, consumed_at: null, revoked_at: null },
      data: { revoked_at: ctx.now },
    });
    await tx.vaults.update({
      where: { id: row.id, ...own(ctx) },
      data: { deleted_at: ctx.now, enabled: false, value_ct: null, cek_wrapped: null, tmk_version: null, updated_at: ctx.now },
      select: { id: true },
    });
    return audited({ deleted: true as const }, entryOf('delete', row, { token_count: Number(counted?.n ?? 0n) }), entry);
  });
}

const entryOf = (action: string, { id, name }: Pick<VaultRow, 'id' | 'name'>, details?: Record<string, unknown>): AuditEntry => ({
  action,
  resource_type: 'vault',
  resource_id: id,
  name,
  ...(details ? { details } : {}),
});
