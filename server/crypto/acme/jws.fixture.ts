import { type CryptoKey, exportJWK, FlattenedSign, generateKeyPair } from 'jose';
import { type AccountKey, accountKey, algorithmOf, type SignatureAlgorithm } from './account-key.ts';

/** A client's key pair. `jwk` is its public part. */
export type ClientKey = { alg: SignatureAlgorithm; privateKey: CryptoKey; jwk: AccountKey };

export async function clientKey(alg: SignatureAlgorithm = 'ES256'): Promise<ClientKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true, ...(alg === 'EdDSA' && { crv: 'Ed25519' }) });
  const jwk = accountKey(await exportJWK(publicKey));
  return { alg: algorithmOf(jwk), privateKey, jwk };
}

type Signed = { protected: string; payload: string; signature: string };

/** A flattened JWS as a client makes it; `header` overrides what is usual. An undefined payload is POST-as-GET. */
export async function signed(by: ClientKey, payload: unknown, header: Record<string, unknown>): Promise<Signed> {
  const content = payload === undefined ? '' : JSON.stringify(payload);
  const jws = await new FlattenedSign(Buffer.from(content)).setProtectedHeader({ alg: by.alg, ...header }).sign(by.privateKey, {
    crit: Object.fromEntries(((header.crit as string[] | undefined) ?? []).map((name) => [name, true])),
  });
  return { protected: jws.protected ?? '', payload: jws.payload, signature: jws.signature };
}

/** An external account binding: the account's key under the MAC of a key that was handed out. */
export async function binding(
  hmacKey: Uint8Array,
  kid: string,
  url: string,
  key: AccountKey,
  header: Record<string, unknown> = {},
): Promise<Signed> {
  const jws = await new FlattenedSign(Buffer.from(JSON.stringify(key)))
    .setProtectedHeader({ alg: 'HS256', kid, url, ...header })
    .sign(hmacKey);
  return { protected: jws.protected ?? '', payload: jws.payload, signature: jws.signature };
}

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
