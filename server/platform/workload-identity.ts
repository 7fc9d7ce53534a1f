import { openDeploymentValue, sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { newWorkloadKey, signWorkloadToken, type WorkloadJwk, type WorkloadKey, workloadKeyOf } from '#server/crypto/workload-issuer.ts';
import { newId } from '#server/kernel/ids.ts';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';
import { rootKeys } from './keys.ts';
import { sql } from './sql.ts';

// Who this installation is to clouds and vaults that trust tokens instead of stored credentials (OpenID Connect Discovery 1.0). They read the public key
// here; whoever set up the trust named our issuer and the subject of one space of their workspace.

export type WorkloadPlace = { tenant_id: string; space: 'live' | 'test' };

/** Below the API's own address and not at its root: this issuer signs nobody in, and no client of ours may take it for the authorization server. */
export const ISSUER_PATH = '/.well-known/workload-identity';
export const workloadIssuer = () => `${new URL(env.PUBLIC_API_URL).origin}${ISSUER_PATH}`;
/** One per space of a workspace, so that the grant of one never reads for another (confused deputy). */
export const workloadSubject = ({ tenant_id, space }: WorkloadPlace) => `workspace:${tenant_id}:${space}:migrations`;

/** As long as an exchange takes. What was exchanged lives on by the rules of whoever trusts us. */
const LIFE_SECONDS = 300;
/** Clocks of verifiers may be behind ours. */
const SKEW_SECONDS = 30;

/** A token for one audience, which is all that it can be shown to. */
export async function workloadToken(place: WorkloadPlace, audience: string, now = new Date()): Promise<string> {
  const at = Math.floor(now.getTime() / 1_000);
  return signWorkloadToken(await workloadKey(), {
    ...{ iss: workloadIssuer(), sub: workloadSubject(place), aud: audience, jti: newId() },
    ...{ iat: at, nbf: at - SKEW_SECONDS, exp: at + LIFE_SECONDS },
  });
}

export const workloadConfiguration = () => ({
  issuer: workloadIssuer(),
  jwks_uri: `${workloadIssuer()}/jwks.json`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  claims_supported: ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti'],
});

export async function workloadKeySet(): Promise<{ keys: WorkloadJwk[] }> {
  await workloadKey();
  return { keys: (await stored())?.value.keys ?? [] };
}

const NAME = 'workload_identity_key';
type Kept = { root_key_id: string; keys: WorkloadJwk[] };
const held = processState('workload-identity', (): { key?: Promise<WorkloadKey> | undefined } => ({}));

/** The key that signs, made at first use and kept sealed under the root key; only one that is published. */
function workloadKey(): Promise<WorkloadKey> {
  const known = held.key;
  if (known !== undefined) return known;
  const reading = readKey();
  held.key = reading;
  reading.catch(() => {
    held.key = undefined;
  });
  return reading;
}

async function readKey(): Promise<WorkloadKey> {
  const kept = (await stored()) ?? (await generated());
  const pkcs8 = openDeploymentValue(rootKeys(), NAME, { sealed: kept.sealed, root_key_id: kept.value.root_key_id });
  try {
    const key = workloadKeyOf(pkcs8);
    if (!kept.value.keys.some(({ kid }) => kid === key.jwk.kid)) throw new Error('the workload identity key is not among those published');
    return key;
  } finally {
    pkcs8.fill(0);
  }
}

async function stored(): Promise<{ value: Kept; sealed: Uint8Array } | undefined> {
  const { rows } = await sql().query<{ value: Kept; sealed: Uint8Array }>('select value, sealed from deployment_values where name = $1', [
    NAME,
  ]);
  return rows[0];
}

/** Of several processes at their first use one writes, and all read what it wrote. */
async function generated() {
  const pkcs8 = await newWorkloadKey();
  const { jwk } = workloadKeyOf(pkcs8);
  const { sealed, root_key_id } = sealDeploymentValue(rootKeys().current, NAME, pkcs8);
  pkcs8.fill(0);
  const value: Kept = { root_key_id, keys: [jwk] };
  await sql().query('insert into deployment_values (name, value, sealed) values ($1, $2, $3) on conflict (name) do nothing', [
    NAME,
    JSON.stringify(value),
    sealed,
  ]);
  const kept = await stored();
  if (!kept) throw new Error('the workload identity key was not stored');
  return kept;
}
