import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { COMPANY_FIELDS, type Company, type CompanyField, changedCompany } from './company.schema.ts';

const select = { country: true, address: true, city: true, postal_code: true, tax_id_type: true, tax_id_value: true } as const;

/** The company details of a workspace; the caller has decided who may see them. @throws Refusal not_found */
export async function companyOf(tx: Pick<Tx, 'tenants'>, tenantId: string): Promise<Company> {
  const row = await tx.tenants.findUnique({ where: { id: tenantId }, select });
  if (!row) throw notFound();
  return row;
}

/**
 * Changes company details in the caller's transaction. The entry names the fields alone: a tax ID never enters the audit log (interface rule 22 §6).
 * @returns null if nothing changed @throws Refusal invalid "Invalid tenant address: ..."
 */
export async function updateCompany(
  tx: Tx,
  tenantId: string,
  given: Readonly<Partial<Record<CompanyField, unknown>>>,
  now: Date,
): Promise<AuditEntry | null> {
  await tx.$queryRaw`select 1 from tenants where id = ${tenantId}::uuid for no key update`;
  const before = await companyOf(tx, tenantId);
  const changed = changedCompany(before, given);
  if (!changed.ok) throw new Refusal('invalid', `Invalid tenant address: ${changed.problem}`);
  const { after } = changed;
  const fields = COMPANY_FIELDS.filter((field) => after[field] !== before[field]);
  if (fields.length === 0) return null;
  await tx.tenants.update({ where: { id: tenantId }, data: { ...after, updated_at: now }, select: { id: true } });
  return {
    action: 'update',
    resource_type: 'tenant',
    resource_id: tenantId,
    changes: fields.map((field) => ({ field, changed: true as const })),
    workspace_level: true,
  };
}
