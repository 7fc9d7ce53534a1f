import { openDeploymentValue, sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { processState } from '#server/kernel/process-state.ts';
import { rootKeys } from './keys.ts';
import { sql } from './sql.ts';

/** A key of this installation that signs, with its public half. */
type Signing = { jwk: { kid: string } };
type Kind<K extends Signing> = {
  /** Of its row among the deployment's values; the seal is bound to it. */
  name: string;
  /** PKCS #8 of a new key. */
  make(): Promise<Buffer>;
  of(pkcs8: Buffer): K;
};
export type DeploymentSigningKey<K extends Signing> = {
  /** Made at first use and kept sealed under the root key; only one that is published. */
  key(): Promise<K>;
  /** A JWKS (RFC 7517). */
  published(): Promise<{ keys: K['jwk'][] }>;
};

/** A signing key of the whole installation, which all of its processes share. */
export function deploymentSigningKey<K extends Signing>({ name, make, of }: Kind<K>): DeploymentSigningKey<K> {
  type Kept = { root_key_id: string; keys: K['jwk'][] };
  const held = processState(`signing-key:${name}`, (): { key?: Promise<K> | undefined } => ({}));

  async function readKey(): Promise<K> {
    const kept = (await stored()) ?? (await generated());
    const pkcs8 = openDeploymentValue(rootKeys(), name, { sealed: kept.sealed, root_key_id: kept.value.root_key_id });
    try {
      const key = of(pkcs8);
      if (!kept.value.keys.some(({ kid }) => kid === key.jwk.kid)) throw new Error(`${name} is not among the keys that are published`);
      return key;
    } finally {
      pkcs8.fill(0);
    }
  }

  async function stored(): Promise<{ value: Kept; sealed: Uint8Array } | undefined> {
    const { rows } = await sql().query<{ value: Kept; sealed: Uint8Array }>('select value, sealed from deployment_values where name = $1', [
      name,
    ]);
    return rows[0];
  }

  /** Of several processes at their first use one writes, and all read what it wrote. */
  async function generated() {
    const pkcs8 = await make();
    const { jwk } = of(pkcs8);
    const { sealed, root_key_id } = sealDeploymentValue(rootKeys().current, name, pkcs8);
    pkcs8.fill(0);
    const value: Kept = { root_key_id, keys: [jwk] };
    await sql().query('insert into deployment_values (name, value, sealed) values ($1, $2, $3) on conflict (name) do nothing', [
      name,
      JSON.stringify(value),
      sealed,
    ]);
    const kept = await stored();
    if (!kept) throw new Error(`${name} was not stored`);
    return kept;
  }

  function key(): Promise<K> {
    const known = held.key;
    if (known !== undefined) return known;
    const reading = readKey();
    held.key = reading;
    reading.catch(() => {
      held.key = undefined;
    });
    return reading;
  }

  return {
    key,
    async published() {
      await key();
      return { keys: (await stored())?.value.keys ?? [] };
    },
  };
}
