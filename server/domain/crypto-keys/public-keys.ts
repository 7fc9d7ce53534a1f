import type { z } from 'zod';
import { publicKey } from '#server/crypto/transit/public-keys.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { keyTypeCan } from '#server/kernel/key-types.ts';
import type { GetPublicKey } from './schema.ts';
import { type KeyRow, keyByRef, type VersionRow, versionByNumber, versionsOf } from './store.ts';

/** @throws Refusal not_found, validation_error for a symmetric key, key_version_destroyed */
export function getPublicKey(ctx: Ctx, { name, version }: z.output<typeof GetPublicKey>) {
  return read(ctx, async (tx) => {
    const key = await keyByRef(tx, ctx, name);
    if (!keyTypeCan(key.key_type, 'public-key')) throw invalid('name', `a key of type ${key.key_type} has no public key`);
    const row = await versionByNumber(tx, ctx, key.id, String(version ?? key.current_version));
    if (!row.public_key_spki) throw new Refusal('key_version_destroyed', `Version ${row.version} of ${key.name} is destroyed.`);
    return {
      ...publicKey(key.key_type, row.public_key_spki, { key_id: key.id, version: row.version }),
      key_version: row.version,
    };
  });
}

/** Every version that still verifies, newest first. @throws Refusal not_found, validation_error for a key that signs nothing */
export function getJwks(ctx: Ctx, { name }: { name: string }) {
  return read(ctx, async (tx) => {
    const key = await keyByRef(tx, ctx, name);
    if (!keyTypeCan(key.key_type, 'jwks')) throw invalid('name', `a key of type ${key.key_type} has no public key set`);
    return jwksOf(key, await versionsOf(tx, ctx, key.id));
  });
}

/**
 * The set as anybody may read it. Off, unknown, deleted and of another space are one answer. @throws Refusal not_found
 */
export function getPublicJwks(ctx: Ctx, keyId: string) {
  return read(ctx, async (tx) => {
    const key = await tx.crypto_keys.findFirst({ where: { ...own(ctx), id: keyId, deleted_at: null, jwks_public: true } });
    if (!key) throw notFound();
    return jwksOf(key as KeyRow, await versionsOf(tx, ctx, key.id));
  });
}

/** What the service itself refuses to verify with, other verifiers don't find either: versions that are destroyed, about to be, or below the minimum. */
const jwksOf = (key: KeyRow, versions: readonly VersionRow[]) => ({
  keys: versions.flatMap(({ version, public_key_spki, destroy_after }) =>
    public_key_spki && destroy_after === null && version >= key.min_decryption_version
      ? [publicKey(key.key_type, public_key_spki, { key_id: key.id, version }).jwk]
      : [],
  ),
});
