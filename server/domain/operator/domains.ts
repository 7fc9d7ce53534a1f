import { createDomain, setVerified } from '#server/domain/domains/service.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { bySlug, operatorCtx } from './acting.ts';

/** Verifies a domain for a workspace without looking at DNS: for installations without it, and for tests. Adds it first when it is new. */
export async function verifyDomain(input: { slug: string; domain: string }) {
  const tenant = await db().$transaction((tx) => bySlug(tx, input.slug));
  const ctx = operatorCtx(tenant.id, 'live');
  const known = await db().tenant_domains.findFirst({
    where: { tenant_id: tenant.id, domain: input.domain.trim().toLowerCase(), status: { not: 'expired' } },
    select: { id: true },
  });
  const { id } = known ?? (await createDomain(ctx, { domain: input.domain }));
  const row = await setVerified(ctx, id);
  if (ctx.warnings[0]) throw new Refusal('conflict', ctx.warnings[0]);
  return { slug: tenant.slug, domain: row.domain, status: row.status };
}
