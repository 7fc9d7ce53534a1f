import { type TenantKeyRow, TenantKeyUnavailable, TenantSealed } from '#server/crypto/keyring.ts';
import { log } from '../log.ts';
import { KmsFailure } from './kms.ts';
import { unwrapAt } from './provider.ts';
import { sealTenant } from './seal.ts';

/**
 * What a keyring asks for a key that a customer's KMS wraps. When that is the key in use and the KMS doesn't give it, the workspace is sealed (interface rule 31
 * §9). @throws TenantSealed
 */
export async function unwrapByKms(tenantId: string, row: TenantKeyRow): Promise<Uint8Array> {
  if (!row.kms || !row.wrapped_key) throw new TenantKeyUnavailable('no_kms');
  try {
    return await unwrapAt(row.kms, { tenantId, version: row.version }, row.wrapped_key);
  } catch (error) {
    if (!(error instanceof KmsFailure)) throw error;
    log.warn(
      { tenant_id: tenantId, version: row.version, reason: error.reason, detail: error.detail },
      'a KMS did not unwrap a tenant key',
    );
    if (row.status === 'active')
      await sealTenant(tenantId, row.version, error).catch((cause: unknown) =>
        log.error({ err: cause, tenant_id: tenantId }, 'cannot record that the workspace is sealed; it is refused all the same'),
      );
    throw new TenantSealed({ cause: error });
  }
}
