import type { z } from 'zod';
import { blindIndex } from '#server/crypto/vault-value.ts';
import { indexKeyOfVault } from '#server/custody/vaults/blind-index.ts';
import { fingerprintOfText } from '#server/custody/vaults/dual.ts';
import { checkedItem } from '#server/custody/vaults/items.ts';
import { findVault } from '#server/custody/vaults/vaults.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import type { Condition, Filter } from '#server/platform/lists/sql.ts';
import type { DeleteTokens, ListTokens, SearchTokens, UpdateToken } from './schema.ts';
import { LISTED, listedToken, type VaultRow, vaultByRef } from './store.ts';

type Query = Pick<z.output<typeof ListTokens>, 'page' | 'per_page' | 'sort' | 'order'>;

/** Never values and never metadata. Tokens that have expired are listed until they are swept. @throws Refusal not_found */
export const listTokens = (ctx: Ctx, { vault, ...query }: z.output<typeof ListTokens>) =>
  read(ctx, async (tx) => pageOfTokens(tx, ctx, query, [inVault(await vaultByRef(tx, ctx, vault))]));

/** Live tokens, of which the vault's counter knows how many there are. */
export const inVault = ({ id }: Pick<VaultRow, 'id'>): Condition => ({
  where: (bind) => `vault_id = ${bind(id, 'uuid')} and deleted_at is null`,
  count: async (tx, ctx) => {
    const row = await tx.vault_token_counts.findFirst({ where: { ...own(ctx), vault_id: id } });
    return Number(row?.n ?? 0n);
  },
});

export async function pageOfTokens(tx: Tx, ctx: Ctx, query: Query, filters: readonly (Filter | undefined)[]) {
  const { ids, total } = await listIds(tx, ctx, { ...query, table: 'vault_tokens', filters });
  const rows = await tx.vault_tokens.findMany({ where: { ...own(ctx), id: { in: ids } }, select: LISTED });
  return pageOf(inOrder(ids, rows).map(listedToken), total, query);
}

/**
 * By metadata that a token has, by when it was made or ends, and in vaults with dedupe by its value, which finds one token at most.
 * @throws Refusal not_found, validation_error for a value in a vault without dedupe, tenant_sealed
 */
export async function searchTokens(ctx: Ctx, { vault, value, metadata, ...query }: z.output<typeof SearchTokens>) {
  const { id, dedupe } = await read(ctx, (tx) => vaultByRef(tx, ctx, vault));
  if (value !== undefined && !dedupe) throw invalid('value', 'can only be searched for in a vault with dedupe');
  const index = value === undefined ? undefined : await indexOf(ctx, id, value);
  const { created_from, created_to, expires_from, expires_to, ...page } = query;
  const range = (column: string, from: string | undefined, to: string | undefined): (Condition | undefined)[] => [
    from === undefined ? undefined : { where: (bind) => `${column} >= ${bind(new Date(from), 'timestamptz')}` },
    to === undefined ? undefined : { where: (bind) => `${column} < ${bind(new Date(to), 'timestamptz')}` },
  ];
  return read(ctx, (tx) =>
    pageOfTokens(tx, ctx, page, [
      { where: (bind) => `vault_id = ${bind(id, 'uuid')} and deleted_at is null` },
      metadata === undefined ? undefined : { where: (bind) => `metadata @> ${bind(JSON.stringify(metadata), 'text')}::jsonb` },
      ...range('created_at', created_from, created_to),
      ...range('expires_at', expires_from, expires_to),
      index === undefined ? undefined : { where: (bind) => `value_hmac = decode(${bind(index.toString('hex'), 'text')}, 'hex')` },
    ]),
  );
}

async function indexOf(ctx: Ctx, vaultId: string, value: string): Promise<Buffer> {
  const vault = await findVault(ctx, vaultId);
  if (!vault) throw notFound();
  return blindIndex(await indexKeyOfVault(vault), checkedItem(vault, { value, ttl_seconds: null }).normalised);
}

/** Replaces the metadata. @throws Refusal not_found */
export function updateToken(ctx: Ctx, { vault, token, metadata }: z.output<typeof UpdateToken>) {
  return mutate(ctx, async (tx) => {
    const { name, id: vault_id } = await vaultByRef(tx, ctx, vault);
    const row = await lockedToken(tx, ctx, vault_id, token);
    // As text, whose numbers stay exact; a search compares them by value.
    await tx.$executeRaw`update vault_tokens set metadata = ${JSON.stringify(metadata)}::jsonb
      where id = ${row.id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
    // What it says may be about a person: the entry says that it changed, not to what.
    return audited(
      { updated: true as const },
      { ...entryOf('update', row.id, { vault: name, vault_id }), changes: [{ field: 'metadata', changed: true }] },
    );
  });
}

/** The value is gone at once; the text isn't issued again for 30 days. @throws Refusal not_found, also when it was deleted before */
export function deleteToken(ctx: Ctx, { vault, token }: { vault: string; token: string }) {
  return mutate(ctx, async (tx) => {
    const { name, id: vault_id } = await vaultByRef(tx, ctx, vault);
    const row = await lockedToken(tx, ctx, vault_id, token);
    await erase(tx, ctx, [row.id]);
    return audited({ deleted: true as const }, entryOf('delete', row.id, { vault: name, vault_id, token_id: row.id }));
  });
}

/** Many at once; those that aren't there are named and hold up nothing. @throws Refusal not_found */
export function deleteTokens(ctx: Ctx, { vault, tokens }: z.output<typeof DeleteTokens>) {
  return mutate(ctx, async (tx) => {
    const { name, id: vault_id } = await vaultByRef(tx, ctx, vault);
    const refs = new Map(tokens.map((token) => [token, fingerprintOfText(token) ?? token]));
    const asked = [...new Set(refs.values())];
    const rows = await tx.$queryRaw<{ id: string; token: string }[]>`
      select id, token from vault_tokens
      where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and vault_id = ${vault_id}::uuid and deleted_at is null
        and (token = any(${asked}::text[]) or id = any(${asked.filter(isUuid)}::uuid[])) order by id for update`;
    const found = new Set(rows.flatMap((row) => [row.id, row.token]));
    const not_found = tokens.filter((token) => !found.has(refs.get(token) ?? '') && !found.has(token.toLowerCase()));
    const result = { deleted: rows.length, not_found };
    if (rows.length === 0) return unchanged(result);
    await erase(
      tx,
      ctx,
      rows.map(({ id }) => id),
    );
    return audited(
      result,
      entryOf('delete', null, { vault: name, vault_id, count: rows.length, token_ids: rows.slice(0, 100).map(({ id }) => id) }),
    );
  });
}

const erase = (tx: Tx, ctx: Ctx, ids: readonly string[]) => tx.$executeRaw`
  update vault_tokens set wrapped_value = null, value_hmac = null, metadata = null, deleted_at = ${ctx.now}
  where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and id = any(${ids}::uuid[]) and deleted_at is null`;

/** By its text, which wins over an ID. Of a dual vault also by the sealed value. @throws Refusal not_found */
async function lockedToken(tx: Tx, ctx: Ctx, vaultId: string, ref: string): Promise<{ id: string }> {
  const text = fingerprintOfText(ref) ?? ref;
  const find = (where: Prisma.vault_tokensWhereInput) =>
    tx.vault_tokens.findFirst({ where: { ...own(ctx), deleted_at: null, ...where }, select: { id: true, vault_id: true } });
  const found = (await find({ token: text })) ?? (isUuid(text) ? await find({ id: text.toLowerCase() }) : null);
  if (!found || found.vault_id !== vaultId) throw notFound();
  const [locked] = await tx.$queryRaw<
    { id: string }[]
  >`select id from vault_tokens where id = ${found.id}::uuid and deleted_at is null for update`;
  if (!locked) throw notFound();
  return locked;
}

const entryOf = (action: string, id: string | null, details: Record<string, unknown>): AuditEntry => ({
  action,
  resource_type: 'vault_token',
  resource_id: id,
  details,
});

/** Erases every value of the space before its rows go, so that no page of the table keeps one live. */
export const wipeTokens = (tx: Tx, ctx: Ctx) => tx.$executeRaw`
  update vault_tokens set wrapped_value = null, value_hmac = null where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and wrapped_value is not null`;
