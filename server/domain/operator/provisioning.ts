import { email as emailAddress } from '#server/domain/people/schema.ts';
import { acceptPassword, canonicalEmail, holdAddress } from '#server/domain/people/service.ts';
import { PLANS } from '#server/domain/plans/schema.ts';
import { createTenant, holdSlug, LONG, STARTER_ROUTE, STARTER_SECRET, seedStarter } from '#server/domain/signup/service.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { isUsableSlug, REGIONS } from '#server/domain/tenants/schema.ts';
import { label } from '#server/kernel/fields.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { audit, fitting, movePlan, oneOf, refuse, STATUSES } from './acting.ts';
import { ensureMember } from './members.ts';

/** Idempotent by slug: an existing workspace is brought to the given plan and status, and keeps its name, region and what is not given. */
export async function provisionTenant(input: {
  slug: string;
  name?: string;
  region?: string;
  plan?: string;
  status?: string;
  owner_email?: string;
  owner_password?: string;
  starter?: boolean;
}) {
  if (!isUsableSlug(input.slug)) throw refuse(`--slug ${input.slug} is not a valid hostname label, or is reserved`);
  const givenPlan = input.plan === undefined ? undefined : oneOf(PLANS, input.plan, '--plan');
  const givenStatus = input.status === undefined ? undefined : oneOf(STATUSES, input.status, '--status');
  const region = oneOf(REGIONS, input.region ?? 'us', '--region');
  const name = input.name === undefined ? input.slug : fitting(label(120), input.name, '--name');
  if (input.owner_password !== undefined && input.owner_email === undefined) throw refuse('--owner-password requires --owner-email');
  const email = input.owner_email === undefined ? undefined : canonicalEmail(fitting(emailAddress(), input.owner_email, '--owner-email'));
  const passwordHash = email && input.owner_password ? await acceptPassword(input.owner_password, email, 'password') : null;
  return db().$transaction(async (tx) => {
    const now = new Date();
    // The address before the slug, as in a sign-up: two that wait for each other would both fail.
    if (email) await holdAddress(tx, email);
    await holdSlug(tx, input.slug);
    const existing = await tx.tenants.findUnique({ where: { slug: input.slug } });
    if (existing && input.region !== undefined && existing.region !== region)
      throw refuse(`--region can't be changed: ${input.slug} is in ${existing.region}`);
    const plan = givenPlan ?? oneOf(PLANS, existing?.subscription_plan ?? env.DEFAULT_PLAN, '--plan');
    const status = givenStatus ?? oneOf(STATUSES, existing?.subscription_status ?? 'active', '--status');
    const tenant = existing ?? (await createTenant(tx, { name, slug: input.slug, region, plan, status }, now));
    if (!existing) {
      await audit(tx, tenant.id, {
        action: 'create',
        resource_type: 'tenant',
        resource_id: tenant.id,
        name: tenant.name,
        details: { plan, status },
      });
      if (input.starter !== false) {
        const starter = await seedStarter(tx, tenant.id, now);
        const details = { via: 'operator' };
        await audit(
          tx,
          tenant.id,
          { action: 'create', resource_type: 'secret', resource_id: starter.secret_id, name: STARTER_SECRET, details },
          'test',
        );
        await audit(
          tx,
          tenant.id,
          { action: 'create', resource_type: 'route', resource_id: starter.route_id, name: STARTER_ROUTE, details },
          'test',
        );
      }
    } else if (existing.subscription_plan !== plan || existing.subscription_status !== status)
      await movePlan(tx, existing, plan, status, false);
    if (email) await ensureMember(tx, tenant.id, { email, role: 'owner', passwordHash, now });
    return {
      id: tenant.id,
      slug: tenant.slug,
      plan,
      status,
      created: !existing,
      proxy_url: { live: proxyUrl(tenant.slug, 'live'), test: proxyUrl(tenant.slug, 'test') },
    };
  }, LONG);
}
