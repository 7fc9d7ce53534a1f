import { newTenantKey } from '#server/crypto/tenant-key.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { rootKeys } from '#server/platform/keys.ts';

/** Version 1 of a tenant's master key, wrapped by the root key; inside the transaction that creates the tenant (interface rule 31 §4). */
export async function createTenantKey(tx: Tx, tenantId: string, now: Date): Promise<void> {
  const root = rootKeys().current;
  await tx.tenant_master_keys.create({
    data: { id: newId(), tenant_id: tenantId, version: 1, wrap_method: 'global', status: 'active', created_at: now, ...newTenantKey(root, tenantId, 1) },
  });
}
