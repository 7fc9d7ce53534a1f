import { identityKeyOf, newIdentityKey, signIdentityToken } from '#server/crypto/identity-issuer.ts';
import { newId } from '#server/kernel/ids.ts';
import { deploymentSigningKey } from './deployment-signing-key.ts';
import { env } from './env.ts';

// Signed caller identity (interface rule 52 §10): an upstream that checks it refuses what did not come through us.

export const IDENTITY_HEADER = 'X-Svc-Identity';
export const identityIssuer = () => new URL(env.PUBLIC_API_URL).origin;

/** As long as a request may be on its way. */
const LIFE_SECONDS = 300;
/** Clocks of verifiers may be behind ours. */
const SKEW_SECONDS = 30;

/** Whom a request is made for. `sub` begins with the kind of its ID, so that no kind's ID can be taken for another's. */
export type CallerIdentity = { sub: string; tenant: string; server: string };
/** The header's value for one request; each has an ID of its own. */
export type IdentitySigner = (request: { url: string; tool?: string | null | undefined }) => string;

const signing = deploymentSigningKey({ name: 'svc_identity_key', make: newIdentityKey, of: identityKeyOf });
export const identityKeySet = signing.published;

/** @throws while the key can't be read */
export async function identitySigner(caller: CallerIdentity): Promise<IdentitySigner> {
  const key = await signing.key();
  return ({ url, tool }) => {
    const at = Math.floor(Date.now() / 1_000);
    return signIdentityToken(key, {
      ...{ iss: identityIssuer(), aud: new URL(url).origin, ...caller },
      ...(tool ? { tool } : {}),
      ...{ jti: newId(), iat: at, nbf: at - SKEW_SECONDS, exp: at + LIFE_SECONDS },
    });
  };
}
