import { tenantIdsOf } from '#server/domain/people/service.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { auditGrant } from './consent.ts';
import { endFamilies } from './families.ts';
import { forgetConsent } from './remembered.ts';

/** The logins that applications have in the person's name, the one used last first; a session bound to a workspace sees those there. */
export async function listConnectedApps({ db, user, session, now }: SignedInCtx) {
  const memberships = await db.$transaction((tx) => tenantIdsOf(tx, user.id));
  const families = await db.oauth_families.findMany({
    where: {
      user_id: user.id,
      tenant_id: { in: memberships.filter((id) => session.scope_tenant_id === null || id === session.scope_tenant_id) },
      revoked_at: null,
      expires_at: { gt: now },
    },
    orderBy: [{ last_used_at: 'desc' }, { id: 'desc' }],
    take: 200,
    include: { client: { select: { name: true, client_id: true, type: true, system_role: true } } },
  });
  const tenants = await db.tenants.findMany({
    where: { id: { in: [...new Set(families.map(({ tenant_id }) => tenant_id))] } },
    select: { id: true, slug: true, name: true },
  });
  const workspaceOf = new Map(tenants.map((tenant) => [tenant.id, tenant]));
  return {
    apps: families.map(({ id, client, tenant_id, sandbox, scopes, flow, ip, user_agent, created_at, last_used_at, expires_at }) => ({
      id,
      client: {
        name: client.name,
        client_id: client.client_id,
        type: client.type as 'confidential' | 'public',
        is_cli: client.system_role === 'cli',
      },
      workspace: workspaceOf.get(tenant_id) ?? { id: tenant_id, slug: '', name: '' },
      space: sandbox ? ('test' as const) : ('live' as const),
      scopes,
      flow: flow as 'code' | 'device',
      ip,
      user_agent,
      created_at,
      last_used_at,
      expires_at,
    })),
  };
}

/** Ends one of the person's logins with all its tokens; its client asks them again next time. @throws Refusal not_found */
export async function disconnectApp(ctx: SignedInCtx, { id }: { id: string }): Promise<{ deleted: true }> {
  await ctx.db.$transaction(async (tx) => {
    const scoped = ctx.session.scope_tenant_id;
    const where = {
      id: isUuid(id) ? id : NOBODY,
      user_id: ctx.user.id,
      revoked_at: null,
      ...(scoped === null ? {} : { tenant_id: scoped }),
    };
    const family = await tx.oauth_families.findFirst({ where, include: { client: { select: { name: true, client_id: true } } } });
    if (!family || (await endFamilies(tx, [family.id], 'revoked_by_person', ctx.now)) === 0) throw notFound();
    ctx.changes.push(`${family.tenant_id}:${spaceOf(family.sandbox)}`);
    await forgetConsent(tx, family);
    await auditGrant(tx, ctx, family, {
      action: 'revoke',
      resource_id: family.id,
      name: family.client.name,
      details: { client_id: family.client.client_id, scopes: family.scopes, flow: family.flow },
    });
  });
  return { deleted: true };
}
const NOBODY = '00000000-0000-0000-0000-000000000000';
