import { addMembership, auditCtx, createUser, type Doer } from '#server/domain/people/service.ts';
import { type Region, regionOf, slugFrom } from '#server/domain/tenants/schema.ts';
import type { Tx } from '#server/kernel/database.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';
import { STARTER_ROUTE, STARTER_SECRET, seedStarter } from './starter.ts';
import { createTenant } from './tenant.ts';

export type NewWorkspace = {
  tenant_name: string;
  tenant_slug?: string | null | undefined;
  country?: string | null | undefined;
  region?: string | null | undefined;
};

/** Region and slug as the rules derive them when they were left out (interface rule 20 §7.1). */
export const regionFor = (input: Pick<NewWorkspace, 'country' | 'region'>): Region =>
  (input.region as Region | null | undefined) ?? regionOf(input.country);

/** A workspace with its Owner, both default environments and the Test starter, audited; inside the caller's transaction. */
export async function createWorkspace(tx: Tx, ctx: PersonCtx, owner: Doer, input: NewWorkspace, via: 'signup' | 'onboarding') {
  const tenant = await createTenant(
    tx,
    {
      name: input.tenant_name,
      slug: input.tenant_slug ?? slugFrom(input.tenant_name),
      region: regionFor(input),
      country: input.country ?? null,
      plan: env.DEFAULT_PLAN,
    },
    ctx.now,
  );
  await addMembership(tx, { tenant_id: tenant.id, user_id: owner.id, role: 'owner', source: 'signup', now: ctx.now });
  const starter = await seedStarter(tx, tenant.id, ctx.now);
  const whole = auditCtx(ctx, owner, tenant.id);
  const test = auditCtx(ctx, owner, tenant.id, true);
  const details = { via };
  await writeAudit(tx, whole, {
    action: 'create',
    resource_type: 'tenant',
    resource_id: tenant.id,
    name: tenant.name,
    details: { ...details, slug: tenant.slug, plan: tenant.subscription_plan, region: tenant.region },
  });
  await writeAudit(tx, whole, {
    action: 'create',
    resource_type: 'member',
    resource_id: owner.id,
    name: owner.email,
    details: { ...details, role: 'owner' },
  });
  await writeAudit(tx, test, { action: 'create', resource_type: 'secret', resource_id: starter.secret_id, name: STARTER_SECRET, details });
  await writeAudit(tx, test, { action: 'create', resource_type: 'route', resource_id: starter.route_id, name: STARTER_ROUTE, details });
  ctx.changes.push(`${tenant.id}:live`, `${tenant.id}:test`);
  return tenant;
}

export type NewOwner = { email: string; full_name: string; password_hash: string | null; email_verified: boolean };

/** A new person and their first workspace. */
export async function createOwner(tx: Tx, ctx: PersonCtx, person: NewOwner, input: NewWorkspace) {
  const user = await createUser(tx, { ...person, now: ctx.now });
  const tenant = await createWorkspace(tx, ctx, user, input, 'signup');
  await writeAudit(tx, auditCtx(ctx, user, tenant.id), {
    action: 'create',
    resource_type: 'user',
    resource_id: user.id,
    name: user.email,
    details: { via: 'signup' },
  });
  return { user, tenant };
}
