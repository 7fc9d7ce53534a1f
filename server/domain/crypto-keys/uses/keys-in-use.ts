import { decodeBase64 } from '#server/crypto/base64.ts';
import { DecryptFailed } from '#server/crypto/transit/cipher-text.ts';
import { assertKeyTypeCan, deriveMaterial, type Material } from '#server/crypto/transit/material.ts';
import { findKey, type UsableKey, versionOf } from '#server/custody/keys.ts';
import { assertUsable, material } from '#server/custody/material.ts';
import { denyingPolicy, policyDenied } from '#server/domain/policies/service.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { type KeyUse, MAX_ASSOCIATED_DATA_BYTES } from '#server/kernel/key-types.ts';
import { grouped } from '#server/kernel/numbers.ts';

/** Uses that a vault's key refuses: they would go past the vault's own rights. */
const OF_THE_OWNER: ReadonlySet<KeyUse> = new Set(['encrypt', 'decrypt', 'rewrap', 'datakey']);

/** The key of a path, for one use. @throws Refusal not_found, key_managed, validation_error when its type can't */
export async function keyFor(ctx: HotCtx, nameOrId: string, use: KeyUse): Promise<UsableKey> {
  const key = await findKey(ctx, nameOrId);
  if (!key) throw notFound();
  assertKeyTypeCan(key.key_type, use);
  if (key.managed_by !== 'tenant' && OF_THE_OWNER.has(use)) throw managed(key);
  return key;
}

const managed = ({ managed_by }: UsableKey) =>
  new Refusal(
    'key_managed',
    managed_by === 'vault'
      ? 'This key belongs to a vault. Tokenize and detokenize with the vault instead.'
      : 'This key belongs to the service.',
  );

/** Material of the active version. */
export const activeMaterial = (key: UsableKey): Promise<Material> => material(key, key.current_version);

/**
 * Material of the version that a ciphertext names. @throws Refusal decrypt_failed when the key has no such version, which says no more than a ciphertext
 * that doesn't open, key_version_disabled, key_version_destroyed
 */
export function assertOpens(key: UsableKey, version: number): void {
  const found = versionOf(key, version);
  if (!found) throw new DecryptFailed();
  assertUsable(found);
  if (version < key.min_decryption_version)
    throw new Refusal(
      'key_version_disabled',
      `Version ${version} is below min_decryption_version (${key.min_decryption_version}) of the key.`,
    );
}

/** What binds a ciphertext beside its key, as bytes. */
export type Bound = { aad: Buffer | undefined; context: Buffer | undefined };

/** @throws Refusal validation_error */
export function boundOf(key: UsableKey, given: { associated_data_b64?: string | undefined; context_b64?: string | undefined }): Bound {
  const aad = bytes('associated_data_b64', given.associated_data_b64);
  const context = bytes('context_b64', given.context_b64);
  if (key.derived && context === undefined) throw invalid('context_b64', 'is required: this key derives a key for each context');
  if (!key.derived && context !== undefined) throw invalid('context_b64', "can't be sent: this key isn't derived");
  if (key.convergent && aad !== undefined) throw invalid('associated_data_b64', "can't be sent: this key is convergent");
  return { aad, context };
}

function bytes(field: string, text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined;
  const decoded = decodeBase64(text);
  if (!decoded) throw invalid(field, 'must be standard base64 with padding');
  if (decoded.length > MAX_ASSOCIATED_DATA_BYTES) throw invalid(field, `must be at most ${grouped(MAX_ASSOCIATED_DATA_BYTES)} bytes`);
  return decoded;
}

/** The material itself, or that of the context. */
export const inContext = (opened: Material, { context }: Bound): Material => (context ? deriveMaterial(opened, context) : opened);

/** What a call that may be made without it needs to see plaintext as well. @throws Refusal forbidden, role_denied */
export async function assertMayDecrypt(ctx: HotCtx, { id, name }: UsableKey): Promise<void> {
  const { actor } = ctx;
  const ofPerson = actor.type === 'member' || (actor.type === 'oauth_token' && actor.user_id !== null);
  if (!actor.capabilities.has('transit:decrypt') || ofPerson)
    throw actor.type === 'member'
      ? new Refusal('role_denied', 'Only machine credentials get data keys in plaintext. Leave out include_plaintext.')
      : new Refusal('forbidden', 'This credential lacks the capability transit:decrypt, required to set include_plaintext to true.');
  const policy = await denyingPolicy(ctx, 'transit:decrypt', { id, name });
  if (policy) throw policyDenied(ctx, policy, 'transit:decrypt');
}
