import { existsSync } from 'node:fs';
import { Keyring, type KeyringOptions, type TenantKeyRow } from '#server/crypto/keyring.ts';
import { loadRootKeys, type RootKeys } from '#server/crypto/root-key.ts';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';
import { unwrapByKms } from './kms/unwrap.ts';
import { sql } from './sql.ts';

const held = processState('keys', (): { roots?: RootKeys | undefined; ring?: Keyring | undefined } => ({}));

/** The deployment's root keys (interface rule 31 §3). @throws RootKeyRefused with what to do */
export function rootKeys(): RootKeys {
  held.roots ??= loadRootKeys({
    masterKeyB64: env.MASTER_KEY_B64,
    previousB64: env.MASTER_KEY_PREVIOUS_B64,
    file: env.MASTER_KEY_FILE,
    production: env.NODE_ENV === 'production',
  });
  return held.roots;
}

/** Whether there is a root key already; asking makes none. */
export const hasRootKey = (): boolean => Boolean(env.MASTER_KEY_B64) || existsSync(env.MASTER_KEY_FILE);

/** The tenant keys of this process. */
export function keyring(): Keyring {
  held.ring ??= new Keyring(loadTenantKey, rootKeys(), kmsOptions());
  return held.ring;
}

/** What every keyring of this deployment does with keys that a KMS holds. */
export const kmsOptions = (): KeyringOptions => ({ unwrapByKms, customerLifetime: env.KMS_CACHE_SECONDS * 1000 });

export function wipeKeys(): void {
  held.ring?.wipe();
  held.ring = undefined;
  held.roots = undefined;
}

/** The columns of a key as the keyring takes them, of `tenant_master_keys k` and its `tenant_kms_configs c`. */
export const KEY_COLUMNS = `k.version, k.wrap_method, k.root_key_id, k.status, c.sealed_reason as sealed,
  case when k.kms_provider is not null then jsonb_build_object('provider', k.kms_provider, 'key_ref', k.kms_key_ref, 'config', k.kms_config, 'key_version', k.kms_key_version) end as kms`;

async function loadTenantKey(tenantId: string, version: number | 'active'): Promise<TenantKeyRow | null> {
  const { rows } = await sql().query<TenantKeyRow>({
    name: version === 'active' ? 'tmk-active' : 'tmk-version',
    text: `select ${KEY_COLUMNS}, k.wrapped_key from tenant_master_keys k left join tenant_kms_configs c on c.tenant_id = k.tenant_id
      where k.tenant_id = $1 and ${version === 'active' ? "k.status = 'active'" : 'k.version = $2'}`,
    values: version === 'active' ? [tenantId] : [tenantId, version],
  });
  return rows[0] ?? null;
}
