import type { z } from 'zod';
import { claimForSso, endLoginsForSso, releaseFromSso } from '#server/domain/domains/service.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { changesOf } from '#server/kernel/changes.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import type { UpdateSsoSettings } from './schema.ts';

/** The two settings, and what decides whether single sign-on can be required without locking people out. */
export const getSsoSettings = (ctx: Ctx) => read(ctx, (tx) => factsOf(tx, ctx));

export const isSsoRequired = async (tx: Tx, tenantId: string): Promise<boolean> => (await storedSettings(tx, tenantId)).sso_required;

/** @throws Refusal conflict naming what is missing, or the domain that another workspace has; plan_feature */
export function updateSsoSettings(ctx: Ctx, input: z.output<typeof UpdateSsoSettings>) {
  return mutate(ctx, async (tx) => {
    await holdLock(tx, `${ctx.tenant_id}:sso`);
    await holdLock(tx, `${ctx.tenant_id}:domains`);
    const before = await storedSettings(tx, ctx.tenant_id);
    const after = { sso_required: input.sso_required ?? before.sso_required, jit_joining: input.jit_joining ?? before.jit_joining };
    // Switching off is always possible, also when the plan has ended.
    if ((after.sso_required && !before.sso_required) || (after.jit_joining && !before.jit_joining)) requireFeature(ctx, 'sso');
    let domains: string[] = [];
    let apps = 0;
    if (after.sso_required && !before.sso_required) {
      await assertNobodyLockedOut(tx, ctx);
      domains = await claimForSso(tx, ctx.tenant_id, ctx.now);
      apps = await endLoginsForSso(tx, domains, ctx.now);
    }
    if (!after.sso_required && before.sso_required) await releaseFromSso(tx, ctx.tenant_id, ctx.now);
    const changes = changesOf(before, after, ['sso_required', 'jit_joining']);
    if (changes.length === 0) return unchanged(await factsOf(tx, ctx));
    await tx.$executeRaw`update tenants set settings = settings || ${JSON.stringify(after)}::jsonb, updated_at = ${ctx.now} where id = ${ctx.tenant_id}::uuid`;
    return audited(await factsOf(tx, ctx), {
      action: 'update',
      resource_type: 'tenant',
      resource_id: ctx.tenant_id,
      changes,
      ...(domains.length > 0 ? { details: { domains, apps } } : {}),
      workspace_level: true,
    });
  });
}

async function assertNobodyLockedOut(tx: Tx, ctx: Ctx): Promise<void> {
  const { verified_domains, tested_connections, owners_with_break_glass } = await factsOf(tx, ctx);
  const missing =
    verified_domains.length === 0
      ? 'Verify a domain first: single sign-on is required of the members of your verified domains.'
      : tested_connections === 0
        ? 'Test an active connection first: a provider that does not work would lock out your members.'
        : owners_with_break_glass === 0
          ? 'At least one Owner needs a password and a second factor first, to sign in when the identity provider is down.'
          : undefined;
  if (missing) throw new Refusal('conflict', missing);
}

async function storedSettings(tx: Tx, tenantId: string) {
  const { settings } = await tx.tenants.findUniqueOrThrow({ where: { id: tenantId }, select: { settings: true } });
  const { sso_required, jit_joining } = settingsOf(settings);
  return { sso_required, jit_joining };
}

async function factsOf(tx: Tx, ctx: Ctx) {
  const domains = await tx.tenant_domains.findMany({
    where: { tenant_id: ctx.tenant_id, status: { in: ['verified', 'lapsed'] } },
    select: { domain: true },
    orderBy: { domain: 'asc' },
  });
  const verified_domains = domains.map(({ domain }) => domain);
  const [people] = await tx.$queryRaw<{ members_concerned: number; owners: number; owners_with_break_glass: number }[]>`
    select * from sso_people(${verified_domains}::text[])`;
  const tested_connections = await tx.sso_connections.count({
    where: { tenant_id: ctx.tenant_id, active: true, tested_at: { not: null } },
  });
  return {
    ...(await storedSettings(tx, ctx.tenant_id)),
    verified_domains,
    members_concerned: people?.members_concerned ?? 0,
    owners: people?.owners ?? 0,
    owners_with_break_glass: people?.owners_with_break_glass ?? 0,
    tested_connections,
  };
}
