import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { clientByRef } from './store.ts';

/** What people of the workspace granted the client and hasn't ended, latest use first. */
export function listGrants(ctx: Ctx, { id }: { id: string }) {
  return read(ctx, async (tx) => {
    const client = await clientByRef(tx, ctx, id);
    const rows = await tx.oauth_families.findMany({
      where: { ...own(ctx), client_row_id: client.id, revoked_at: null, expires_at: { gt: ctx.now } },
      orderBy: [{ last_used_at: 'desc' }, { id: 'desc' }],
    });
    const people = await peopleById(tx, ctx, [...new Set(rows.map(({ user_id }) => user_id))]);
    return rows.map(({ user_id, ...row }) => ({ ...row, user: people.get(user_id) ?? { id: user_id, name: 'Former member', email: '' } }));
  });
}

/** Ends one grant with all its tokens; the person is asked again at their next login. @throws Refusal not_found */
export function revokeGrant(ctx: Ctx, { id, grant_id }: { id: string; grant_id: string }) {
  return mutate(ctx, async (tx) => {
    const client = await clientByRef(tx, ctx, id);
    const where = { ...own(ctx), id: isUuid(grant_id) ? grant_id : client.id, client_row_id: client.id, revoked_at: null };
    const grant = await tx.oauth_families.findFirst({ where });
    const ended =
      grant && (await tx.oauth_families.updateMany({ where, data: { revoked_at: ctx.now, revoked_reason: 'revoked_by_workspace' } })).count;
    if (!grant || !ended) throw notFound();
    const ofGrant = { ...own(ctx), family_id: grant.id, revoked_at: null };
    await tx.oauth_refresh.updateMany({ where: ofGrant, data: { revoked_at: ctx.now } });
    await tx.oauth_access.updateMany({ where: ofGrant, data: { revoked_at: ctx.now } });
    await tx.oauth_consents.deleteMany({ where: { ...own(ctx), client_row_id: client.id, user_id: grant.user_id } });
    return audited(
      { deleted: true as const },
      {
        action: 'revoke',
        resource_type: 'oauth_grant',
        resource_id: grant.id,
        name: client.name,
        details: { client_id: client.client_id, user_id: grant.user_id, scopes: grant.scopes },
      },
    );
  });
}

async function peopleById(tx: Tx, ctx: Ctx, ids: string[]) {
  const rows = await tx.memberships.findMany({
    where: { tenant_id: ctx.tenant_id, user_id: { in: ids } },
    select: { user: { select: { id: true, full_name: true, email: true } } },
  });
  return new Map(rows.map(({ user }) => [user.id, { id: user.id, name: user.full_name || user.email, email: user.email }]));
}
