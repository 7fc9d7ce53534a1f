import { compactVerify, createLocalJWKSet, decodeProtectedHeader, errors, type JSONWebKeySet } from 'jose';

/** Signature algorithms of identity tokens: asymmetric ones only, so that no public value can serve as a key (interface rule 21 §4.6). */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'];
const LONGEST = 16 * 1024;
const SKEW_SEC = 60;
const LONGEST_LIFE_SEC = 24 * 3600;

export type IdTokenClaims = { iss: string; sub: string } & Record<string, unknown>;
export type IdTokenExpected = { issuer: string; audience: string; nonce: string; now: Date };

/** Why a token isn't accepted. `unknown_key`: the key set has no such key, which a newer one may have. */
export class IdTokenRefused extends Error {
  readonly reason: 'unknown_key' | 'expired' | 'invalid';
  constructor(reason: IdTokenRefused['reason'], message: string) {
    super(message);
    this.name = 'IdTokenRefused';
    this.reason = reason;
  }
}

/** The claims of a token whose signature and every claim below hold. The signature is checked before any claim is looked at. @throws IdTokenRefused */
export async function verifyIdToken(
  token: string,
  keys: JSONWebKeySet,
  { issuer, audience, nonce, now }: IdTokenExpected,
): Promise<IdTokenClaims> {
  if (token.length > LONGEST) throw invalid('is too long');
  const header = headerOf(token);
  if (!ALGORITHMS.includes(String(header.alg))) throw invalid(`is signed with ${String(header.alg).slice(0, 20)}, which is not accepted`);
  if ('crit' in header) throw invalid('has critical extensions');
  if (typeof header.kid !== 'string') throw invalid('names no key');
  const claims = await verifiedClaims(token, keys);
  const seconds = now.getTime() / 1000;
  const { iss, sub, aud, exp, iat, nbf, azp } = claims;
  if (iss !== issuer) throw invalid('was issued by someone else');
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) throw invalid('names no subject');
  const audiences = [aud].flat();
  if (!audiences.includes(audience)) throw invalid('was issued for another application');
  if ((audiences.length > 1 || azp !== undefined) && azp !== audience) throw invalid('was issued to another application');
  if (typeof exp !== 'number' || typeof iat !== 'number' || exp - iat > LONGEST_LIFE_SEC) throw invalid('has no usable lifetime');
  if (exp <= seconds - SKEW_SEC) throw new IdTokenRefused('expired', 'The identity token has expired.');
  if (iat > seconds + SKEW_SEC || (nbf !== undefined && !(typeof nbf === 'number' && nbf <= seconds + SKEW_SEC)))
    throw new IdTokenRefused('expired', 'The identity token is from the future.');
  if (claims.nonce !== nonce) throw invalid('belongs to another sign-in');
  return { ...claims, iss, sub };
}

function headerOf(token: string): Record<string, unknown> {
  try {
    return { ...decodeProtectedHeader(token) };
  } catch {
    throw invalid('is malformed');
  }
}

async function verifiedClaims(token: string, keys: JSONWebKeySet): Promise<Record<string, unknown>> {
  try {
    const { payload } = await compactVerify(token, createLocalJWKSet(keys), { algorithms: ALGORITHMS });
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return claims as Record<string, unknown>;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey)
      throw new IdTokenRefused('unknown_key', 'The identity token is signed with an unknown key.');
    throw invalid('has no valid signature');
  }
  throw invalid('is malformed');
}

const invalid = (problem: string) => new IdTokenRefused('invalid', `The identity token ${problem}.`);
