import { newWorkloadKey, signWorkloadToken, workloadKeyOf } from '#server/crypto/workload-issuer.ts';
import { newId } from '#server/kernel/ids.ts';
import { deploymentSigningKey } from './deployment-signing-key.ts';
import { env } from './env.ts';

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
  return signWorkloadToken(await signing.key(), {
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

const signing = deploymentSigningKey({ name: 'workload_identity_key', make: newWorkloadKey, of: workloadKeyOf });
export const workloadKeySet = signing.published;
