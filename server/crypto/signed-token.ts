import { compactVerify, decodeProtectedHeader, errors, type JWTVerifyGetKey } from 'jose';
import { isCompactJws } from './compact-jws.ts';

// What every token of a foreign issuer must hold, whatever it is for (interface rule 21 §4.6): sign-ins, workloads, the AI gateway.

/** Asymmetric algorithms only, so that no public value can serve as a key. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'];
const LONGEST_TOKEN = 16 * 1024;
const SKEW_SEC = 60;
const LONGEST_LIFE_SEC = 24 * 3600;

export type Claims = Readonly<Record<string, unknown>>;
export type TokenReason = 'malformed' | 'algorithm' | 'unknown_key' | 'signature' | 'expired' | 'claims';

/** Why a token isn't accepted. `unknown_key`: the key set has no such key, which a newer one may have. */
export class TokenRefused extends Error {
  readonly reason: TokenReason;
  constructor(reason: TokenReason, problem: string) {
    super(`The token ${problem}.`);
    this.name = 'TokenRefused';
    this.reason = reason;
  }
}

/** Judges length, shape and header. Keys that a header points to or carries (jku, x5u, jwk) are never looked at. @throws TokenRefused */
export function assertHeader(token: string): void {
  if (token.length > LONGEST_TOKEN) throw new TokenRefused('malformed', 'is too long');
  const header = headerOf(token);
  if (!ALGORITHMS.includes(String(header.alg)))
    throw new TokenRefused('algorithm', `is signed with ${String(header.alg).slice(0, 20)}, which is not accepted`);
  if ('crit' in header) throw new TokenRefused('algorithm', 'has critical extensions');
  if (typeof header.kid !== 'string' || header.kid === '') throw new TokenRefused('malformed', 'names no key');
}

function headerOf(token: string): Record<string, unknown> {
  try {
    if (isCompactJws(token)) return { ...decodeProtectedHeader(token) };
  } catch {
    // Refused below: what a parser says of hostile text is of no use.
  }
  throw new TokenRefused('malformed', 'is malformed');
}

/** The claims, once the signature holds; nothing of them is trusted before. @throws TokenRefused */
export async function signedClaims(token: string, keys: JWTVerifyGetKey): Promise<Claims> {
  assertHeader(token);
  let payload: Uint8Array;
  try {
    ({ payload } = await compactVerify(token, keys, { algorithms: ALGORITHMS }));
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) throw new TokenRefused('unknown_key', 'is signed with an unknown key');
    throw new TokenRefused('signature', 'has no valid signature');
  }
  return claimsIn(payload);
}

export function claimsIn(payload: Uint8Array): Claims {
  try {
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return claims as Claims;
  } catch {
    // Refused below.
  }
  throw new TokenRefused('malformed', 'is malformed');
}

/** exp, iat and nbf with a minute of tolerance, and a life of a day at most. @throws TokenRefused */
export function assertTimes({ exp, iat, nbf }: Claims, now: Date): void {
  const seconds = now.getTime() / 1000;
  if (typeof exp !== 'number' || typeof iat !== 'number' || exp - iat > LONGEST_LIFE_SEC)
    throw new TokenRefused('claims', 'has no usable lifetime');
  if (exp <= seconds - SKEW_SEC) throw new TokenRefused('expired', 'has expired');
  if (iat > seconds + SKEW_SEC || (nbf !== undefined && !(typeof nbf === 'number' && nbf <= seconds + SKEW_SEC)))
    throw new TokenRefused('expired', 'is from the future');
}
