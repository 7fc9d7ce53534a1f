import { existsSync } from 'node:fs';
import { Keyring, type TenantKeyRow } from '#server/crypto/keyring.ts';
import { loadRootKeys, type RootKeys } from '#server/crypto/root-key.ts';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';
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
  held.ring ??= new Keyring(loadTenantKey, rootKeys());
  return held.ring;
}

export function wipeKeys(): void {
  held.ring?.wipe();
  held.ring = undefined;
  held.roots = undefined;
}

async function loadTenantKey(tenantId: string, version: number | 'active'): Promise<TenantKeyRow | null> {
  const { rows } = await sql().query<TenantKeyRow>({
    name: version === 'active' ? 'tmk-active' : 'tmk-version',
    text: `select version, wrap_method, wrapped_key, root_key_id from tenant_master_keys where tenant_id = $1 and ${version === 'active' ? "status = 'active'" : 'version = $2'}`,
    values: version === 'active' ? [tenantId] : [tenantId, version],
  });
  return rows[0] ?? null;
}
