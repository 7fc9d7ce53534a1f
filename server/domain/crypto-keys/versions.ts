import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { newMaterial } from '#server/crypto/transit/new-material.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { KeyType } from '#server/kernel/key-types.ts';
import { keyring } from '#server/platform/keys.ts';
import { personOf } from './store.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Fresh material, sealed for the row it will have; `id` is that row's id and part of what was sealed. */
export type NewVersion = { id: string; value_ct: Bytes; cek_wrapped: Bytes; tmk_version: number; public_key_spki: Bytes | null };

/**
 * Generates and seals. Call it before the transaction opens: an RSA key takes up to seconds, and no lock should wait for it.
 * @throws Refusal tenant_sealed
 */
export async function newVersion(ctx: Pick<Ctx, 'tenant_id' | 'sandbox'>, type: KeyType): Promise<NewVersion> {
  const id = newId();
  const { secret, spki } = await newMaterial(type);
  try {
    const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'transit_key', row_id: id } as const;
    const sealed = await keyring().sealValue(place, secret).catch(whenSealed);
    return { id, ...sealed, public_key_spki: spki };
  } finally {
    secret.fill(0);
  }
}

/** Writes a version as the active one; there must be no other. */
export const insertVersion = (tx: Tx, ctx: Ctx, keyId: string, version: number, made: NewVersion) =>
  tx.crypto_key_versions.create({
    data: { ...own(ctx), ...made, key_id: keyId, version, created_by: personOf(ctx), created_at: ctx.now },
    select: { id: true },
  });

function whenSealed(error: unknown): never {
  if (error instanceof TenantKeyUnavailable)
    throw new Refusal('tenant_sealed', "This workspace's encryption key is unavailable. Nothing was stored. Try again later.", {
      retryAfter: 30,
      cause: error,
    });
  throw error;
}
