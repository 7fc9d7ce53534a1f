import type { KeyObject } from 'node:crypto';
import { tenantKeyAad } from './aad.ts';
import { hkdf } from './derive.ts';
import { randomBuffer } from './random.ts';
import type { RootKey, RootKeys } from './root-key.ts';
import { secretKey } from './secret-key.ts';
import { DecryptFailed, keyVersionOf, kinds, open, seal } from './svt1.ts';

/** A tenant master key as it is stored: SVT1 kind 01, and which root key opens it. */
export type WrappedByRoot = { wrapped_key: Uint8Array<ArrayBuffer>; root_key_id: string };
/** The same columns as any driver reads them. */
export type StoredTenantKey = { wrapped_key: Uint8Array; root_key_id: string };

/**
 * A new random tenant key wrapped by the root key. `epoch` counts root rotations (1 at first); it is written in the
 * blob for people to read, while the root key is always chosen by root_key_id.
 */
export function newTenantKey(root: RootKey, tenantId: string, version: number, epoch = 1): WrappedByRoot {
  const bytes = randomBuffer(32);
  try {
    return wrap(root, tenantId, version, epoch, bytes);
  } finally {
    bytes.fill(0);
  }
}

/** The tenant key as a KeyObject. DecryptFailed when no root key has the id, or the blob is not this tenant's and version's. */
export function unwrapTenantKey(roots: RootKeys, tenantId: string, version: number, wrapped: StoredTenantKey): KeyObject {
  return secretKey(unwrap(roots, tenantId, version, wrapped));
}

/** The same tenant key under the current root key, for root rotation; undefined when it is there already and nothing needs writing. */
export function rewrapTenantKey(roots: RootKeys, tenantId: string, version: number, wrapped: StoredTenantKey): WrappedByRoot | undefined {
  if (wrapped.root_key_id === roots.current.id) return undefined;
  const bytes = unwrap(roots, tenantId, version, wrapped);
  try {
    return wrap(roots.current, tenantId, version, keyVersionOf(kinds.tenantKey, wrapped.wrapped_key) + 1, bytes);
  } finally {
    bytes.fill(0);
  }
}

/** The key that wraps one tenant's keys: HKDF of the root key with the 16 bytes of the tenant id as salt. */
export function wrappingKey(root: RootKey, tenantId: string): KeyObject {
  return hkdf(root.key, Buffer.from(tenantId.replaceAll('-', ''), 'hex'), 'svc/tmk-wrap/global/v1');
}

function wrap(root: RootKey, tenantId: string, version: number, epoch: number, bytes: Uint8Array): WrappedByRoot {
  const aad = tenantKeyAad(tenantId, version);
  return { wrapped_key: seal(kinds.tenantKey, wrappingKey(root, tenantId), epoch, aad, bytes), root_key_id: root.id };
}

function unwrap(roots: RootKeys, tenantId: string, version: number, wrapped: StoredTenantKey): Buffer {
  const root = [roots.current, roots.previous].find((candidate) => candidate?.id === wrapped.root_key_id);
  if (!root) throw new DecryptFailed();
  const epoch = keyVersionOf(kinds.tenantKey, wrapped.wrapped_key);
  const bytes = open(kinds.tenantKey, wrappingKey(root, tenantId), epoch, tenantKeyAad(tenantId, version), wrapped.wrapped_key);
  if (bytes.length !== 32) throw new DecryptFailed();
  return bytes;
}
