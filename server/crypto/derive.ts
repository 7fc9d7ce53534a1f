import { hkdfSync, type KeyObject } from 'node:crypto';
import type { RootKey, RootKeys } from './root-key.ts';
import { secretKey } from './secret-key.ts';

/** Uses of a tenant key besides wrapping (interface rule 31 §2.2). */
export type TenantKeyUse =
  | 'svc/capability-hmac/v1'
  | 'svc/idempotency-fp/v1'
  | 'svc/lookup-hmac/v1'
  | 'svc/ai-canary/v1'
  | `svc/ai-pii/v1:${string}`;

/** Uses of the deployment's root key besides wrapping. */
export type RootKeyUse =
  | 'svc/next-auth/v1'
  | 'svc/cursor/v1'
  | 'svc/front-door/v1'
  | 'svc/snapshot/v1'
  | 'svc/deployment-value/v1'
  | 'svc/dpop-nonce/v1'
  | 'svc/acme-nonce/v1';

const derived = new WeakMap<KeyObject, Map<string, KeyObject>>();

/**
 * HKDF-SHA256 (RFC 5869) of the key with an empty salt, 32 bytes. Kept per key object, so that a sub-key costs one map
 * look-up and is forgotten together with the key it came from.
 */
export function subKey(key: KeyObject, use: TenantKeyUse | RootKeyUse): KeyObject {
  const uses = derived.get(key) ?? new Map<string, KeyObject>();
  const known = uses.get(use);
  if (known) return known;
  derived.set(key, uses);
  const fresh = hkdf(key, Buffer.alloc(0), use);
  uses.set(use, fresh);
  return fresh;
}

/** HKDF-SHA256 to 32 bytes as a KeyObject; the intermediate bytes are wiped. `info` text is UTF-8. */
export function hkdf(key: KeyObject, salt: Uint8Array, info: string | Uint8Array): KeyObject {
  return secretKey(Buffer.from(hkdfSync('sha256', key, salt, info, 32)));
}

/** NEXTAUTH_SECRET when none is configured: 43 base64url characters. */
export function nextAuthSecret(root: RootKey): string {
  return exported(root, 'svc/next-auth/v1');
}

/** What the front door and the web process show each other on their private socket: 43 base64url characters. */
export function frontDoorToken(root: RootKey): string {
  return exported(root, 'svc/front-door/v1');
}

/** The keys of feed cursors (`cursor.ts`): the first signs, all are accepted. */
export function cursorKeys({ current, previous }: RootKeys): [KeyObject, ...KeyObject[]] {
  const keyOf = (root: RootKey) => subKey(root.key, 'svc/cursor/v1');
  return previous ? [keyOf(current), keyOf(previous)] : [keyOf(current)];
}

function exported(root: RootKey, use: RootKeyUse): string {
  return subKey(root.key, use).export().toString('base64url');
}
