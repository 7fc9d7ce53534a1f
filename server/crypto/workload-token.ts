import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { assertHeader, assertTimes, type Claims, signedClaims, TokenRefused } from './signed-token.ts';
import { digest } from './tokens.ts';

// Tokens that a platform gives its workloads (interface rules 21 §4.6, 50 §6.9): the same rules whatever they are exchanged for.

export { type Claims, TokenRefused } from './signed-token.ts';

/** The keys of an issuer, ready to verify with. Each key is imported once, however many tokens it verifies. */
export type IssuerKeys = JWTVerifyGetKey;
/** @throws when one of them isn't a JSON Web Key */
export const issuerKeys = (keys: readonly unknown[]): IssuerKeys => createLocalJWKSet({ keys: keys as JSONWebKeySet['keys'] });

export type WorkloadClaims = Claims & { readonly iss: string; readonly sub: string; readonly exp: number };

/** What an unverified token says of itself: enough to find its issuer's keys, and for nothing else. */
export type UnverifiedToken = { issuer: string; claims: Claims };

/** Judges length and header and reads the issuer, without a signature. @throws TokenRefused */
export function readWorkloadToken(token: string): UnverifiedToken {
  assertHeader(token);
  const issuer = unverifiedIssuer(token);
  if (issuer === null) throw new TokenRefused('claims', 'names no issuer');
  return { issuer, claims: decodeJwt(token) };
}

/** Whose token this says it is, however little else of it holds; null when it says nothing. */
export function unverifiedIssuer(token: string): string | null {
  try {
    const { iss } = token.length > LONGEST_FORM ? {} : decodeJwt(token);
    return typeof iss === 'string' && iss !== '' && iss.length <= LONGEST_ISSUER ? iss : null;
  } catch {
    return null;
  }
}
/** A token that is too long is still somebody's: what a form can hold is read. */
const LONGEST_FORM = 64 * 1024;
const LONGEST_ISSUER = 2048;

/** The claims of a token of this issuer: signature first, then issuer, times and subject. Audience and the rest are a binding's to judge. @throws TokenRefused */
export async function verifyWorkloadToken(token: string, issuer: string, keys: IssuerKeys, now: Date): Promise<WorkloadClaims> {
  const claims = await signedClaims(token, keys);
  if (claims.iss !== issuer) throw new TokenRefused('claims', 'was issued by someone else');
  assertTimes(claims, now);
  if (typeof claims.sub !== 'string' || claims.sub === '') throw new TokenRefused('claims', 'names no subject');
  return claims as WorkloadClaims;
}

/** Under what a token that may be presented once is remembered. Its signature is no part: some algorithms have several for one text. */
export const useDigest = (token: string) => digest(token.slice(0, token.lastIndexOf('.')));
