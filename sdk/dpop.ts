import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';

/** A key that tokens are bound to (RFC 9449): whoever copies such a token can't use it without the key. */
export type DpopKey = {
  /** RFC 7638 thumbprint of the public key. */
  jkt: string;
  /** A proof for one request. Each can be used once. */
  proof(request: { method: string; url: string; access_token?: string; nonce?: string | undefined }): Promise<string>;
  /** The private key, to be kept as carefully as a password. */
  export(): Promise<JWK>;
};

/** A new P-256 key. */
export async function createDpopKey(): Promise<DpopKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return importDpopKey(await exportJWK(privateKey));
}

/** The key that `export` gave. @throws TypeError when it is not a private P-256 key */
export async function importDpopKey(jwk: JWK): Promise<DpopKey> {
  const { kty, crv, x, y, d } = jwk;
  if (kty !== 'EC' || crv !== 'P-256' || !x || !y || !d) throw new TypeError('A DPoP key is a private P-256 key as a JWK.');
  const key = await importJWK({ kty, crv, x, y, d }, 'ES256');
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } };
  return {
    jkt: await calculateJwkThumbprint(header.jwk),
    export: () => Promise.resolve({ kty, crv, x, y, d }),
    proof: ({ method, url, access_token, nonce }) => {
      const target = new URL(url);
      const claims = {
        jti: randomUUID(),
        htm: method,
        htu: `${target.origin}${target.pathname}`,
        ...(access_token ? { ath: createHash('sha256').update(access_token).digest('base64url') } : {}),
        ...(nonce ? { nonce } : {}),
      };
      return new SignJWT(claims).setProtectedHeader(header).setIssuedAt().sign(key);
    },
  };
}

/** The latest nonce of each server, and whether an answer asks to repeat the request with one (RFC 9449 §8, §9). */
export class Nonces {
  readonly #byOrigin = new Map<string, string>();

  of(url: string): string | undefined {
    return this.#byOrigin.get(new URL(url).origin);
  }

  /** Keeps the nonce of an answer; true when the request was refused for the want of it. */
  hear(url: string, response: Response, text: string): boolean {
    const nonce = response.headers.get('dpop-nonce');
    if (!nonce) return false;
    const { origin } = new URL(url);
    const isNew = this.#byOrigin.get(origin) !== nonce;
    this.#byOrigin.set(origin, nonce);
    const asked = response.headers.get('www-authenticate')?.includes('use_dpop_nonce') || text.includes('use_dpop_nonce');
    return isNew && (response.status === 400 || response.status === 401) && asked === true;
  }
}
