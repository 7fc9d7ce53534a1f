import type { AuditEntry } from '#server/kernel/mutate.ts';

/** The record that a domain's owner publishes. */
export const txtName = (domain: string) => `_svc-verify.${domain}`;

/** What a domain is once its record was found. */
export const VERIFIED = { status: 'verified', misses: 0, expires_at: null } as const;

export const entryOf = (row: { id: string; domain: string }): Omit<AuditEntry, 'action'> => ({
  resource_type: 'tenant_domain',
  resource_id: row.id,
  name: row.domain,
  workspace_level: true,
});
