import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { assertTimes, signedClaims, TokenRefused } from './signed-token.ts';

export { TokenRefused as IdTokenRefused } from './signed-token.ts';

export type IdTokenClaims = { iss: string; sub: string } & Record<string, unknown>;
export type IdTokenExpected = { issuer: string; audience: string; nonce: string; now: Date };

/** The claims of a token whose signature and every claim below hold. The signature is checked before any claim is looked at. @throws IdTokenRefused */
export async function verifyIdToken(
  token: string,
  keys: JSONWebKeySet,
  { issuer, audience, nonce, now }: IdTokenExpected,
): Promise<IdTokenClaims> {
  const claims = await signedClaims(token, createLocalJWKSet(keys));
  const { iss, sub, aud, azp } = claims;
  if (iss !== issuer) throw invalid('was issued by someone else');
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) throw invalid('names no subject');
  const audiences = [aud].flat();
  if (!audiences.includes(audience)) throw invalid('was issued for another application');
  if ((audiences.length > 1 || azp !== undefined) && azp !== audience) throw invalid('was issued to another application');
  assertTimes(claims, now);
  if (claims.nonce !== nonce) throw invalid('belongs to another sign-in');
  return { ...claims, iss, sub };
}

const invalid = (problem: string) => new TokenRefused('claims', problem);
