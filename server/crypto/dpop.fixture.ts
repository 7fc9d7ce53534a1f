import { hash } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { jwkThumbprint } from './dpop.ts';

export type ProofSigner = {
  jwk: JWK;
  jkt: string;
  /** A proof as a client makes it; `claims` and `header` replace members, and undefined leaves one out. */
  prove(of: {
    method: string;
    url: string;
    access_token?: string | undefined;
    at?: Date;
    claims?: Record<string, unknown>;
    header?: Record<string, unknown>;
  }): Promise<string>;
};

/** A key pair of a client. */
export async function proofSigner(alg: 'ES256' | 'EdDSA' | 'Ed25519' = 'ES256'): Promise<ProofSigner> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    jwk,
    jkt: await jwkThumbprint(jwk),
    prove: ({ method, url, access_token, at = new Date(), claims, header }) =>
      new SignJWT({
        jti: crypto.randomUUID(),
        htm: method,
        htu: url,
        iat: Math.floor(at.getTime() / 1000),
        ...(access_token === undefined ? {} : { ath: hash('sha256', access_token, 'base64url') }),
        ...claims,
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk, ...header })
        .sign(privateKey),
  };
}
