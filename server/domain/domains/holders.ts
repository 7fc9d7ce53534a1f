import { onUnique } from '#server/kernel/conflicts.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { domainOf } from './names.ts';

// What sign-in and provisioning ask of domains. A domain proves nothing beyond the workspace that verified it.

/** Whether the workspace may take in new people with this address: its domain is verified now, and hasn't lapsed. */
export async function isVerifiedFor(tx: Tx | Db, tenantId: string, email: string): Promise<boolean> {
  const domain = domainOf(email);
  return domain !== undefined && (await verifiedIn(tx, tenantId, [domain])).length > 0;
}

/** Those of the names that the workspace has verified. */
export async function verifiedIn(tx: Tx | Db, tenantId: string, domains: readonly string[]): Promise<string[]> {
  const rows = await tx.tenant_domains.findMany({
    where: { tenant_id: tenantId, domain: { in: [...domains] }, status: 'verified' },
    select: { domain: true },
  });
  return rows.map((row) => row.domain);
}

/** The workspaces that hold the domain of an address, those that require single sign-on of it first, then the oldest. */
export async function domainHolders(tx: Tx | Db, email: string): Promise<{ tenant_id: string; sso_required: boolean; status: string }[]> {
  const domain = domainOf(email);
  if (domain === undefined) return [];
  return tx.tenant_domains.findMany({
    where: { domain, status: { in: ['verified', 'lapsed'] } },
    select: { tenant_id: true, sso_required: true, status: true },
    orderBy: [{ sso_required: 'desc' }, { verified_at: 'asc' }],
  });
}

/**
 * Claims every verified domain of the workspace for single sign-on; of a domain, one workspace at most holds the claim (interface rule 22 §10).
 * @returns the names @throws Refusal conflict naming one that another workspace has
 */
export async function claimForSso(tx: Tx, tenantId: string, now: Date): Promise<string[]> {
  const rows = await tx.tenant_domains.findMany({
    where: { tenant_id: tenantId, status: { in: ['verified', 'lapsed'] } },
    select: { id: true, domain: true },
    orderBy: { domain: 'asc' },
  });
  for (const row of rows) {
    if (await isTaken(tx, row.domain)) throw taken(row.domain);
    await tx.tenant_domains
      .update({ where: { id: row.id }, data: { sso_required: true, updated_at: now } })
      .catch(onUnique(taken(row.domain).message));
  }
  return rows.map(({ domain }) => domain);
}

/**
 * Whom the requirement concerns logs in again through the identity provider, with their applications too: those were logged in by a session of before. Their
 * sessions are refused where they enter the workspace. @returns how many logins of applications ended
 */
export async function endLoginsForSso(tx: Tx, domains: readonly string[], now: Date): Promise<number> {
  const [row] = await tx.$queryRaw<{ n: number }[]>`select end_logins_for_sso(${domains}::text[], ${now}) as n`;
  return row?.n ?? 0;
}

/** Whether another workspace requires single sign-on for the domain. */
export async function isTaken(tx: Tx, domain: string): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ taken: boolean }[]>`select domain_taken_for_sso(${domain}) as taken`;
  return row?.taken === true;
}

const taken = (domain: string) =>
  new Refusal('conflict', `Another workspace already requires single sign-on for ${domain}. Only one workspace can.`);

/** Gives all claims up. */
export const releaseFromSso = (tx: Tx, tenantId: string, now: Date) =>
  tx.tenant_domains.updateMany({ where: { tenant_id: tenantId, sso_required: true }, data: { sso_required: false, updated_at: now } });
