import type { SamlProvider } from '#server/crypto/saml.ts';
import { domainHolders } from '#server/domain/domains/service.ts';
import { type PlanName, planFeature } from '#server/domain/plans/schema.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';
import type { Db, Tx } from '#server/kernel/database.ts';

// Connections as sign-in sees them: before anybody is recognised, over all workspaces.

const WITH_TENANT = { tenant: { select: { slug: true, subscription_plan: true, subscription_status: true, deleted_at: true } } } as const;

export const connectionOf = (db: Db | Tx, id: string) => db.sso_connections.findUnique({ where: { id }, include: WITH_TENANT });
export type Connection = NonNullable<Awaited<ReturnType<typeof connectionOf>>>;

/** Whether people can sign in by it: active, in a workspace whose plan has single sign-on. */
export const isUsable = ({ active, tenant }: Connection): boolean =>
  active &&
  tenant.deleted_at === null &&
  isServableStatus(tenant.subscription_status) &&
  planFeature(tenant.subscription_plan as PlanName, 'sso');

/** The connection for the workspace of a slug, or for the domain of an address; null when there is none. */
export async function chosenConnection(db: Db | Tx, { email, tenant }: { email?: string | undefined; tenant?: string | undefined }) {
  if (tenant !== undefined) return ofTenant(db, { tenant: { slug: tenant.toLowerCase() } });
  return email === undefined ? null : ((await connectionForEmail(db, email))?.connection ?? null);
}

/** Of several workspaces with the domain the one that requires single sign-on, else the one that verified it first. */
export async function connectionForEmail(db: Db | Tx, email: string): Promise<{ connection: Connection; required: boolean } | null> {
  for (const { tenant_id, sso_required } of await domainHolders(db, email)) {
    const connection = await ofTenant(db, { tenant_id });
    if (connection) return { connection, required: sso_required };
  }
  return null;
}

/** One that has worked before one that hasn't, then the oldest. */
async function ofTenant(db: Db | Tx, where: { tenant_id: string } | { tenant: { slug: string } }): Promise<Connection | null> {
  const rows = await db.sso_connections.findMany({
    where: { ...where, active: true },
    include: WITH_TENANT,
  });
  return (
    rows
      .filter(isUsable)
      .sort((a, b) => Number(a.tested_at === null) - Number(b.tested_at === null) || a.created_at.getTime() - b.created_at.getTime())[0] ??
    null
  );
}

export const samlProviderOf = ({ issuer, sso_url, certificates }: Connection): SamlProvider => ({
  entity_id: issuer,
  sso_url: sso_url ?? '',
  certificates,
});
