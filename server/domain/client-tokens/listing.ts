import type { z } from 'zod';
import { keyById } from '#server/custody/keys.ts';
import { findVault } from '#server/custody/vaults/vaults.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import type { ClientTokenAction, ClientTokenState, ListClientTokens } from './schema.ts';

type Row = NonNullable<Awaited<ReturnType<Tx['client_tokens']['findFirst']>>>;

/** The mints of the space, newest first. Names are those of keys and vaults that still exist. */
export async function listClientTokens(ctx: Ctx, { state, action, minted_by, ...asked }: z.output<typeof ListClientTokens>) {
  const where = {
    ...own(ctx),
    ...(action === undefined ? {} : { action }),
    ...(minted_by === undefined ? {} : { minted_by_id: minted_by }),
    ...(state === undefined ? {} : inState(state, ctx.now)),
  };
  const { rows, total } = await read(ctx, async (tx) => {
    const total = await tx.client_tokens.count({ where });
    const rows = await pagedRows(
      asked,
      total,
      [{ created_at: asked.order }, { id: asked.order }],
      (window) => tx.client_tokens.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.client_tokens.findMany({ where: { ...own(ctx), id: { in: ids } } }),
    );
    return { rows, total };
  });
  const names = await namesOf(ctx, rows);
  return pageOf(
    rows.map((row) => viewOf(row, names, ctx.now)),
    total,
    asked,
  );
}

/** What a token is at a time. What ended it first counts, and it can be spent only once, so being spent counts before all. */
export function stateOf(
  { consumed_at, burned_at, revoked_at, expires_at }: Pick<Row, 'consumed_at' | 'burned_at' | 'revoked_at' | 'expires_at'>,
  now: Date,
): ClientTokenState {
  if (consumed_at) return 'consumed';
  if (burned_at) return 'burned';
  if (revoked_at) return 'revoked';
  return expires_at <= now ? 'expired' : 'minted';
}

const inState = (state: ClientTokenState, now: Date): Prisma.client_tokensWhereInput => {
  const open = { consumed_at: null, burned_at: null, revoked_at: null };
  switch (state) {
    case 'consumed':
      return { consumed_at: { not: null } };
    case 'burned':
      return { consumed_at: null, burned_at: { not: null } };
    case 'revoked':
      return { consumed_at: null, burned_at: null, revoked_at: { not: null } };
    case 'expired':
      return { ...open, expires_at: { lte: now } };
    case 'minted':
      return { ...open, expires_at: { gt: now } };
  }
};

async function namesOf(ctx: Ctx, rows: readonly Row[]): Promise<ReadonlyMap<string, string>> {
  const ids = (column: 'key_id' | 'vault_id') => [...new Set(rows.flatMap((row) => row[column] ?? []))];
  const found = await Promise.all([...ids('key_id').map((id) => keyById(ctx, id)), ...ids('vault_id').map((id) => findVault(ctx, id))]);
  return new Map(found.flatMap((one) => (one ? [[one.id, one.name] as const] : [])));
}

const viewOf = (row: Row, names: ReadonlyMap<string, string>, now: Date) => ({
  ...row,
  action: row.action as ClientTokenAction,
  state: stateOf(row, now),
  key_name: row.key_id === null ? null : (names.get(row.key_id) ?? null),
  vault_name: row.vault_id === null ? null : (names.get(row.vault_id) ?? null),
  minted_by: { type: row.minted_by_type as 'user' | 'api_key' | 'oauth_client', id: row.minted_by_id, label: row.minted_by_label },
});
