import { openChain } from '#server/domain/audit-logs/service.ts';
import { firstEnvironment } from '#server/domain/environments/service.ts';
import { createTenantKey } from '#server/domain/keys/service.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import type { Region } from '#server/domain/tenants/schema.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { trimEnd } from '#server/kernel/trim-end.ts';

export type NewTenant = { name: string; slug: string; region: Region; country?: string | null; plan: PlanName; status?: string };

/**
 * A workspace with its master key and the default environment in both spaces. Runs in the caller's transaction, outside row-level security: the
 * callers are sign-up, onboarding and the operator, who audit it themselves. The slug is made free by suffixing -2, -3, ...
 */
export async function createTenant(tx: Tx, input: NewTenant, now: Date) {
  const slug = await freeSlug(tx, input.slug, now);
  const tenant = await tx.tenants.create({
    data: {
      id: newId(),
      slug,
      name: input.name,
      region: input.region,
      country: input.country ?? null,
      subscription_plan: input.plan,
      subscription_status: input.status ?? 'active',
      created_at: now,
      updated_at: now,
    },
  });
  await createTenantKey(tx, tenant.id, now);
  await openChain(tx, tenant.id);
  for (const sandbox of [false, true]) await firstEnvironment(tx, tenant.id, sandbox, now);
  return tenant;
}

/** @returns a slug that nobody has or takes before the transaction ends */
async function freeSlug(tx: Tx, wanted: string, now: Date): Promise<string> {
  for (let n = 1; ; n++) {
    const slug = n === 1 ? wanted : `${trimEnd(wanted.slice(0, 54 - String(n).length), '-')}-${n}`;
    await holdSlug(tx, slug);
    const taken =
      (await tx.tenants.findUnique({ where: { slug }, select: { id: true } })) ??
      (await tx.reserved_slugs.findFirst({ where: { slug, expires_at: { gt: now } } }));
    if (!taken) return slug;
  }
}

/** Of several who look at one slug at once each waits for the one before and sees what became of it; until the end of the transaction. */
export const holdSlug = (tx: Tx, slug: string) => holdLock(tx, `slug:${slug}`);
