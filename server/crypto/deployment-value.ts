import { subKey } from './derive.ts';
import type { RootKey, RootKeys } from './root-key.ts';
import { DecryptFailed, kinds, open, seal } from './svt1.ts';

/** A secret of the deployment itself, sealed under a key derived from the root key. */
export type SealedDeploymentValue = { sealed: Uint8Array<ArrayBuffer>; root_key_id: string };
export type StoredDeploymentValue = { sealed: Uint8Array; root_key_id: string };

/** Seals under the current root key; the name is bound in, so that no value passes for another. */
export function sealDeploymentValue(root: RootKey, name: string, plaintext: Uint8Array): SealedDeploymentValue {
  return { sealed: seal(kinds.small, subKey(root.key, 'svc/deployment-value/v1'), 1, aadOf(name), plaintext), root_key_id: root.id };
}

/** The plaintext, the caller's to wipe. DecryptFailed when no root key has the id, or the blob is not of this name. */
export function openDeploymentValue(roots: RootKeys, name: string, stored: StoredDeploymentValue): Buffer {
  const root = [roots.current, roots.previous].find((candidate) => candidate?.id === stored.root_key_id);
  if (!root) throw new DecryptFailed();
  return open(kinds.small, subKey(root.key, 'svc/deployment-value/v1'), 1, aadOf(name), stored.sealed);
}

const aadOf = (name: string) => `svt1|dep|${name}`;
