import { openMaterial } from '#server/crypto/transit/material.ts';
import { newMaterial } from '#server/crypto/transit/new-material.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { KEY_TYPES, type KeyType } from '#server/kernel/key-types.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { fresh } from './factories.ts';

export type StoredKey = { id: string; name: string; versions: string[] };

type Wanted = {
  id?: string;
  name?: string;
  key_type?: KeyType;
  managed_by?: 'tenant' | 'vault' | 'service';
  /** Secrets of the versions, oldest first, where the test needs known ones. */
  secrets?: readonly Uint8Array[];
  /** How many versions, where it doesn't. */
  versions?: number;
  extra?: Record<string, unknown>;
};

/** A key as its rows, for tests of those who use keys: its material may be one that vectors name. The newest version is the active one. */
export async function storedKey(ctx: Ctx, wanted: Wanted = {}): Promise<StoredKey> {
  const { id = newId(), name = fresh('key'), key_type = 'aes256-gcm', managed_by = 'tenant', secrets, versions = 1, extra = {} } = wanted;
  const count = secrets?.length ?? versions;
  await db().crypto_keys.create({ data: { id, ...own(ctx), name, key_type, managed_by, current_version: count, ...extra } });
  const ids: string[] = [];
  for (let version = 1; version <= count; version++) {
    const row_id = newId();
    const { secret } = secrets ? { secret: Buffer.from(secrets[version - 1] as Uint8Array) } : await newMaterial(key_type);
    const place = { tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'transit_key' as const, row_id };
    const sealed = await keyring().sealValue(place, secret);
    const opened = openMaterial(key_type, secret); // of this type, or the test is at fault
    const spki = KEY_TYPES[key_type].asymmetric ? opened.publicKey.export({ format: 'der', type: 'spki' }) : null;
    await db().crypto_key_versions.create({
      data: {
        id: row_id,
        key_id: id,
        ...own(ctx),
        version,
        status: version === count ? 'active' : 'retired',
        ...sealed,
        public_key_spki: spki && new Uint8Array(spki),
      },
    });
    ids.push(row_id);
  }
  return { id, name, versions: ids };
}

/** Erases a version as its destruction does. */
export const destroyVersion = (id: string) =>
  db().crypto_key_versions.update({
    where: { id },
    data: { status: 'destroyed', destroyed_at: new Date(), value_ct: null, cek_wrapped: null, tmk_version: null, public_key_spki: null },
  });
