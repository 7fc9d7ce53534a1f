import type { SealedPlace } from '#server/crypto/aad.ts';
import { subKey } from '#server/crypto/derive.ts';
import type { SealedValue } from '#server/crypto/envelope.ts';
import { type IndexKey, indexKeyOf, newIndexKey } from '#server/crypto/vault-value.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { keyring } from '#server/platform/keys.ts';
import { sealed } from './sealed.ts';
import type { UsableVault, VaultSpace } from './vaults.ts';

/**
 * The key by which a vault with dedupe finds values: made from the tenant key of the time and sealed, so that values are found after that key was
 * rotated. @throws Refusal tenant_sealed
 */
export async function sealNewIndexKey(space: VaultSpace, vaultId: string): Promise<SealedValue> {
  try {
    const { key } = await keyring().activeTmk(space.tenant_id);
    const bytes = newIndexKey(subKey(key, 'svc/lookup-hmac/v1'), vaultId);
    try {
      return await keyring().sealValue(placeOf(space, vaultId), bytes);
    } finally {
      bytes.fill(0);
    }
  } catch (error) {
    throw sealed(error);
  }
}

/** @throws Refusal tenant_sealed */
export async function indexKeyOfVault(vault: UsableVault): Promise<IndexKey> {
  const { value_ct, cek_wrapped, tmk_version } = vault;
  if (!value_ct || !cek_wrapped || tmk_version === null) throw new Error('a vault with dedupe has an index key');
  try {
    return indexKeyOf(await keyring().openValue(placeOf(vault, vault.id), { value_ct, cek_wrapped, tmk_version }));
  } catch (error) {
    throw sealed(error);
  }
}

const placeOf = ({ tenant_id, sandbox }: VaultSpace, vaultId: string): SealedPlace => ({
  tenant_id,
  space: spaceOf(sandbox),
  purpose: 'vault_data_key',
  row_id: vaultId,
});
