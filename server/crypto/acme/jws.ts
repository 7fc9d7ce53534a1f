import { flattenedVerify, importJWK, type JWK } from 'jose';
import { decodeBase64url } from '../base64.ts';
import { jsonObject } from '../compact-jws.ts';
import { type AccountKey, accountKey, algorithmOf, SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from './account-key.ts';
import { JwsRefused } from './refused.ts';

// Signed requests of ACME (RFC 8555 §6.2): a flattened JWS whose protected header has alg, url, a nonce, and either the key or the account's URL.

/** A flattened JWS taken apart. Nothing of it is verified. */
export type Flattened = {
  protected: string;
  payload: string;
  signature: string;
  header: Readonly<Record<string, unknown>>;
  content: Buffer;
};

/** A request whose form is right. Its signature is for `verifyRequest`, its nonce and account are for the server. */
export type SignedRequest = {
  jws: Flattened;
  alg: SignatureAlgorithm;
  /** As the client sent it; undefined in the inner JWS of a key change, which has none. */
  nonce: string | undefined;
  signer: { key: AccountKey; kid?: undefined } | { kid: string; key?: undefined };
  /** Empty for POST-as-GET. */
  content: Buffer;
};

/** What a JWS must be: a request with a nonce for `url`, or the inner JWS of a key change, which has none and carries the new key. */
export type Expected = { url: string; inner?: true };

/** Takes a request apart and checks everything that needs neither the account nor the store of nonces. @throws JwsRefused */
export function parseRequest(body: unknown, { url, inner }: Expected): SignedRequest {
  const jws = flattened(body);
  const { header } = jws;
  const { alg, nonce, kid, jwk } = header;
  if ('crit' in header || 'b64' in header) throw malformed('The protected header has extensions that this server does not support.');
  if (!SIGNATURE_ALGORITHMS.some((known) => known === alg))
    throw new JwsRefused('bad_algorithm', `The request must be signed with ${SIGNATURE_ALGORITHMS.join(', ')}.`);
  if ((jwk === undefined) === (kid === undefined)) throw malformed('The protected header must have either jwk or kid, and not both.');
  if (inner && (nonce !== undefined || kid !== undefined)) throw malformed('The inner JWS must have jwk, and neither kid nor nonce.');
  if (nonce !== undefined && typeof nonce !== 'string') throw malformed('The nonce must be a string.');
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > LONGEST_URL)) throw malformed('kid must be the URL of an account.');
  if (header.url !== url) throw new JwsRefused('url', 'The url of the protected header is not the URL of this request.');
  const key = kid === undefined ? accountKey(jwk) : undefined;
  if (key && algorithmOf(key) !== alg) throw new JwsRefused('bad_algorithm', `The key in the header signs with ${algorithmOf(key)}.`);
  return {
    jws,
    alg: alg as SignatureAlgorithm,
    nonce,
    signer: key ? { key } : { kid: kid as string },
    content: jws.content,
  };
}

/** Checks the signature by the key of the header, or of the account that `kid` names. @throws JwsRefused signature, bad_key, bad_algorithm */
export async function verifyRequest({ jws, alg }: SignedRequest, key: AccountKey): Promise<void> {
  // The algorithm comes from the key: the header only may agree.
  const expected = algorithmOf(key);
  if (alg !== expected) throw new JwsRefused('bad_algorithm', `The key of this account signs with ${expected}.`);
  const imported = await importJWK(key as JWK, expected).catch(() => {
    throw new JwsRefused('bad_key', 'The account key is not a valid public key.');
  });
  await flattenedVerify({ protected: jws.protected, payload: jws.payload, signature: jws.signature }, imported, {
    algorithms: [expected],
  }).catch(() => {
    throw new JwsRefused('signature', 'The signature of the request is not valid.');
  });
}

/**
 * A flattened JWS with a protected header and nothing else: no unprotected header and no list of signatures (RFC 8555 §6.2). Each part must be the one
 * spelling of its bytes. @throws JwsRefused malformed
 */
export function flattened(body: unknown): Flattened {
  const value = body instanceof Uint8Array ? jsonObject(body) : body;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('The request must be a JWS in flattened JSON.');
  const { protected: head, payload, signature, ...rest } = value as Record<string, unknown>;
  if (typeof head !== 'string' || typeof payload !== 'string' || typeof signature !== 'string')
    throw malformed('The JWS must have protected, payload and signature.');
  if (Object.keys(rest).length > 0) throw malformed('The JWS must have no members but protected, payload and signature.');
  const [headBytes, content, signatureBytes] = [head, payload, signature].map(decodeBase64url);
  const header = headBytes && jsonObject(headBytes);
  if (!header || !content || !signatureBytes) throw malformed('The parts of the JWS must be base64url without padding.');
  return { protected: head, payload, signature, header, content };
}

const LONGEST_URL = 2_048;

const malformed = (message: string) => new JwsRefused('malformed', message);
