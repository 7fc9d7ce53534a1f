import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { type PageRequest, pageOf } from '#server/kernel/page.ts';
import { pagedRows } from '#server/platform/lists/paged.ts';
import { entryOf, lockedServer, readServer } from './store.ts';

// People's own access to the upstream of a server (interface rule 52 §2.3). Nothing here opens a token.

const SHOWN = {
  id: true,
  attributed_user_id: true,
  external_id: true,
  display_name: true,
  scopes: true,
  status: true,
  created_at: true,
  last_refreshed_at: true,
  last_used_at: true,
  has_refresh_token: true,
} as const;

/** Newest first, ended ones too. @throws Refusal not_found */
export const listGrants = (ctx: Ctx, { id, ...asked }: { id: string } & PageRequest) =>
  readServer(ctx, id, async (tx, server) => {
    const where = { ...own(ctx), mcp_server_id: server.id };
    const total = await tx.mcp_grants.count({ where });
    const rows = await pagedRows(
      asked,
      total,
      [{ created_at: 'desc' }, { id: 'desc' }],
      (window) => tx.mcp_grants.findMany({ where, ...window, select: { id: true } }),
      (ids) => tx.mcp_grants.findMany({ where: { ...own(ctx), id: { in: ids } }, select: SHOWN }),
    );
    return pageOf(
      rows.map((row) => ({ ...row, status: row.status as 'active' | 'revoked' })),
      total,
      asked,
    );
  });

/** The tokens are destroyed, not flagged. Idempotent. @throws Refusal not_found */
export function revokeGrant(ctx: Ctx, { id, grantId }: { id: string; grantId: string }) {
  return mutate(ctx, async (tx) => {
    const server = await lockedServer(tx, ctx, id);
    const row = isUuid(grantId)
      ? await tx.mcp_grants.findFirst({
          where: { ...own(ctx), id: grantId, mcp_server_id: server.id },
          select: { id: true, external_id: true },
        })
      : null;
    if (!row) throw notFound();
    const { count } = await end(tx, ctx, { id: row.id });
    const answer = { deleted: true as const, id: row.id, status: 'revoked' as const };
    return count === 0 ? unchanged(answer) : audited(answer, entryOf('revoke', server, { grant_id: row.id, external_id: row.external_id }));
  });
}

/** @throws Refusal not_found */
export function revokeGrants(ctx: Ctx, { id }: { id: string }) {
  return mutate(ctx, async (tx) => {
    const server = await lockedServer(tx, ctx, id);
    const revoked = await revokeAllGrants(tx, ctx, server.id);
    const answer = { deleted: true as const, id: server.id, revoked };
    return revoked === 0 ? unchanged(answer) : audited(answer, entryOf('revoke', server, { grants_revoked: revoked }));
  });
}

/** Inside a change of the server. @returns how many ended */
export const revokeAllGrants = async (tx: Tx, ctx: Ctx, serverId: string): Promise<number> =>
  (await end(tx, ctx, { mcp_server_id: serverId })).count;

/** A person leaves the workspace: their tokens at every upstream go with them. */
export const grantsEnd = async (tx: Tx, ctx: Ctx, userId: string) => ({ mcp_grants: (await end(tx, ctx, { user_id: userId })).count });

const end = (tx: Tx, ctx: Ctx, where: Prisma.mcp_grantsWhereInput) =>
  tx.mcp_grants.updateMany({
    where: { ...where, ...own(ctx), status: 'active' },
    data: {
      status: 'revoked',
      value_ct: null,
      cek_wrapped: null,
      tmk_version: null,
      has_refresh_token: false,
      expires_at: null,
      refreshing_until: null,
      revoked_at: ctx.now,
      updated_at: ctx.now,
    },
  });
