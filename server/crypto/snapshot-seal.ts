import { subKey } from './derive.ts';
import type { RootKey, RootKeys } from './root-key.ts';
import { DecryptFailed, kinds, open, seal } from './svt1.ts';

/**
 * Seals a gateway's copy of the configuration for its own disk, under a key derived from the root key. `name` (a file's name without
 * folder) is bound, so that one file cannot be put in the place of another.
 */
export function sealSnapshot(root: RootKey, name: string, plaintext: Uint8Array): Buffer {
  return seal(kinds.small, subKey(root.key, 'svc/snapshot/v1'), 0, aad(name), plaintext);
}

/** The plaintext of a sealed copy; DecryptFailed when neither root key opens it. */
export function openSnapshot(roots: RootKeys, name: string, blob: Uint8Array): Buffer {
  for (const root of [roots.current, roots.previous]) {
    if (!root) continue;
    try {
      return open(kinds.small, subKey(root.key, 'svc/snapshot/v1'), 0, aad(name), blob);
    } catch (error) {
      if (!(error instanceof DecryptFailed)) throw error;
    }
  }
  throw new DecryptFailed();
}

const aad = (name: string) => `svt1|snapshot|${name}`;
