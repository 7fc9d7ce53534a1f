import { uuidV7 } from '#server/crypto/random.ts';
import { signBearerJwt, UnusableMaterial } from '#server/crypto/upstream-auth/bearer-jwt.ts';
import type { Refused } from '../../core/refusal.ts';
import type { UpstreamSigning } from '../../snapshot/model.ts';
import type { RouteCall } from '../route-call.ts';
import { type Signed, type SigningAuth, unusable } from './signed.ts';

type JwtAuth = Extract<SigningAuth, { type: 'jwt_bearer' }>;
type Token = { materialId: string; text: string; until: number };

/** A token isn't sent when it would expire on its way. */
const MARGIN_MS = 30_000;

/** The last token of each setting, until the setting or its material changes. */
const minted = new WeakMap<UpstreamSigning, Token>();

/** A JWT as the credential of the call. The material was resolved for this call, so none is sent after a secret expired or went. */
export function bearerToken(
  call: RouteCall,
  signing: UpstreamSigning,
  auth: JwtAuth,
  name: string,
  material: string | undefined,
): Signed | Refused {
  if (material === undefined) return unusable(name, 'is missing');
  const materialId = call.snapshot.secretById(auth.secret_id ?? '')?.values.get(call.state.environmentName)?.id ?? '';
  const now = Date.now();
  const known = minted.get(signing);
  if (known && known.materialId === materialId && known.until > now) return carrying(auth, name, known.text);
  try {
    const text = signBearerJwt(material, auth.algorithm, claimsOf(auth, now));
    minted.set(signing, { materialId, text, until: now + auth.ttl_seconds * 1000 - MARGIN_MS });
    return carrying(auth, name, text);
  } catch (error) {
    if (error instanceof UnusableMaterial) return unusable(`The secret ${name}`, error.message);
    throw error;
  }
}

function claimsOf({ issuer, subject, audience, ttl_seconds, extra_claims }: JwtAuth, now: number): Record<string, unknown> {
  const iat = Math.floor(now / 1000);
  return {
    ...(issuer === undefined ? {} : { iss: issuer }),
    ...(subject === undefined ? {} : { sub: subject }),
    ...(audience === undefined ? {} : { aud: audience }),
    iat,
    exp: iat + ttl_seconds,
    jti: uuidV7(),
    ...extra_claims,
  };
}

const carrying = ({ header_name, value_prefix }: JwtAuth, name: string, token: string): Signed => ({
  headers: [header_name, `${value_prefix}${token}`],
  credentials: new Map([[`${name}.token`, token]]),
});
