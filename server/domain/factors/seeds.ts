import { openDeploymentValue, sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { rootKeys } from '#server/platform/keys.ts';

/** A person's authenticator belongs to no workspace, so its seed is sealed under the deployment's root key and bound to its row. */
const nameOf = (id: string) => `totp_seed:${id}`;

export const sealSeed = (id: string, seed: Uint8Array) => sealDeploymentValue(rootKeys().current, nameOf(id), seed);

/** Runs `use` with the seed and wipes it. @throws DecryptFailed when its root key is gone */
export function withSeed<T>(row: { id: string; sealed: Uint8Array; root_key_id: string }, use: (seed: Buffer) => T): T {
  const seed = openDeploymentValue(rootKeys(), nameOf(row.id), row);
  try {
    return use(seed);
  } finally {
    seed.fill(0);
  }
}
