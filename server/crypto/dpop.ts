import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, decodeProtectedHeader, EmbeddedJWK, type JWK } from 'jose';
import { isCompactJws } from './compact-jws.ts';
import { subKey } from './derive.ts';
import type { RootKeys } from './root-key.ts';

// DPoP (RFC 9449): proof that the sender of a request holds the key its access token is bound to. This file judges a proof by itself; that it is used
// once is for `server/domain/oauth-grants/dpop.ts`.

/** Signature algorithms of proofs, as metadata and challenges list them. */
export const DPOP_ALGORITHMS = ['ES256', 'EdDSA'] as const;
/** Newer libraries call EdDSA on this curve by its own name (RFC 9864). */
const ACCEPTED = [...DPOP_ALGORITHMS, 'Ed25519'];

const LONGEST_PROOF = 8 * 1024;
const LONGEST_JTI = 256;
const MOST_OLD_SEC = 120;
const MOST_AHEAD_SEC = 30;
const SLOT_SEC = 300;

/** How long a used proof must be remembered: longer than any proof is accepted. */
export const PROOF_KEPT_MS = 300_000;

/**
 * Why a proof is refused. `missing` and `nonce` have answers of their own: a proof was not sent at all, or the client must repeat the request with the
 * nonce of the answer.
 */
export type ProofFault =
  | 'missing'
  | 'malformed'
  | 'key'
  | 'signature'
  | 'method'
  | 'url'
  | 'time'
  | 'token'
  | 'binding'
  | 'nonce'
  | 'replay';

export class ProofRefused extends Error {
  readonly reason: ProofFault;
  constructor(reason: ProofFault, message: string) {
    super(message);
    this.name = 'ProofRefused';
    this.reason = reason;
  }
}

/** What a proof must be of. */
export type ProofExpected = {
  /** The DPoP header as it came; several headers joined by a comma are no proof. */
  header: string | null | undefined;
  method: string;
  /** Public URLs of the request, built from configuration and never from the Host header. A query is ignored. */
  urls: readonly string[];
  now: Date;
  /** Set at a resource: the proof must carry its hash. */
  access_token?: string | undefined;
  /** Set when the key is known: RFC 7638 thumbprint that the token is bound to. */
  jkt?: string | undefined;
  /** Keys of the server's nonces; a nonce in the proof must be one of ours, and `nonce_required` demands one. */
  nonce_keys: readonly KeyObject[];
  nonce_required?: boolean | undefined;
};

/** A proof that holds. Its `jti` may be used once with its key. */
export type Proof = { jkt: string; jti: string };

/** Steps 1 to 9 of the verification of a proof, in the order of interface rule 21 §9. @throws ProofRefused */
export async function verifyProof(expected: ProofExpected): Promise<Proof> {
  const { header, method, urls, now, access_token, jkt, nonce_keys, nonce_required } = expected;
  if (!header) throw new ProofRefused('missing', 'The request has no DPoP proof.');
  if (header.length > LONGEST_PROOF) throw refused('malformed', 'is longer than 8 KiB');
  const jwk = acceptableKey(header);
  const claims = await signedClaims(header);
  const { jti, htm, htu, iat, ath, nonce } = claims;
  if (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_JTI) throw refused('malformed', 'needs a jti of 1 to 256 characters');
  if (htm !== method) throw refused('method', 'was made for another method');
  const url = typeof htu === 'string' && !/[?#]/.test(htu) ? canonicalUrl(htu) : null;
  if (url === null || !urls.some((candidate) => canonicalUrl(candidate) === url)) throw refused('url', 'was made for another URL');
  const seconds = now.getTime() / 1000;
  if (typeof iat !== 'number' || iat < seconds - MOST_OLD_SEC || iat > seconds + MOST_AHEAD_SEC)
    throw refused('time', 'is too old or from the future: check the clock of the client');
  if (access_token !== undefined && ath !== hash('sha256', access_token, 'base64url'))
    throw refused('token', 'was made for another access token');
  const thumbprint = await jwkThumbprint(jwk);
  if (jkt !== undefined && thumbprint !== jkt) throw refused('binding', 'is signed with another key than the token is bound to');
  if (nonce === undefined ? nonce_required : !(typeof nonce === 'string' && isOwnNonce(nonce_keys, nonce, now)))
    throw new ProofRefused('nonce', 'The DPoP proof needs the nonce of the DPoP-Nonce header of this response.');
  return { jkt: thumbprint, jti };
}

/** RFC 7638 SHA-256 thumbprint of a public key, base64url. */
export const jwkThumbprint = (jwk: JWK): Promise<string> => calculateJwkThumbprint(jwk, 'sha256');

/** The key in a proof's header, when its type, algorithm and members are acceptable. Nothing of it is trusted before the signature holds. */
function acceptableKey(proof: string): JWK {
  if (!isCompactJws(proof)) throw refused('malformed', 'is not one compact JWS');
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(proof);
  } catch {
    throw refused('malformed', 'is not a compact JWS');
  }
  const { typ, alg, jwk } = header;
  if (typ !== 'dpop+jwt') throw refused('malformed', 'must have the type dpop+jwt');
  if ('crit' in header) throw refused('malformed', 'has critical extensions');
  if (typeof jwk !== 'object' || jwk === null) throw refused('key', 'has no public key');
  const { kty, crv, x, y } = jwk;
  const fits =
    alg === 'ES256'
      ? kty === 'EC' && crv === 'P-256' && isCoordinate(x) && isCoordinate(y)
      : (alg === 'EdDSA' || alg === 'Ed25519') && kty === 'OKP' && crv === 'Ed25519' && isCoordinate(x);
  if (!fits) throw refused('key', 'must be signed with ES256 or EdDSA by the public key in its header');
  if (PRIVATE_MEMBERS.some((member) => member in jwk)) throw refused('key', 'contains a private key');
  return jwk;
}
const PRIVATE_MEMBERS = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

/** 32 bytes in their one base64url spelling: a key has one thumbprint. */
const isCoordinate = (text: unknown): boolean => typeof text === 'string' && /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text);

async function signedClaims(proof: string): Promise<Record<string, unknown>> {
  try {
    const { payload } = await compactVerify(proof, EmbeddedJWK, { algorithms: ACCEPTED });
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return claims as Record<string, unknown>;
  } catch {
    throw refused('signature', 'has no valid signature');
  }
  throw refused('malformed', 'is not a JWT');
}

/**
 * The one spelling of an http URL without query and fragment (RFC 3986 §6.2.2, §6.2.3): lower-case scheme and host, no default port, no dot segments,
 * percent-encoding in capitals and only where needed. Null for anything else, such as a URL with a user name.
 */
export function canonicalUrl(text: string): string | null {
  const end = text.search(/[?#]/);
  const bare = end < 0 ? text : text.slice(0, end);
  // A parser of URLs forgives backslashes, tabs and more; a proof has no need of them.
  if (!/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i.test(bare) || !URL.canParse(bare)) return null;
  const { protocol, username, password, host, pathname } = new URL(bare);
  return username === '' && password === '' ? `${protocol}//${host}${pathname.replace(/%[0-9A-Fa-f]{2}/g, unescaped)}` : null;
}

/** An escape of an unreserved character is that character; any other is written in capitals. */
function unescaped(written: string): string {
  const character = String.fromCharCode(Number.parseInt(written.slice(1), 16));
  return /[A-Za-z0-9._~-]/.test(character) ? character : written.toUpperCase();
}

/** The keys of nonces: the first makes them, all are accepted, so that a rotation of the root key interrupts nobody. */
export function nonceKeys({ current, previous }: RootKeys): [KeyObject, ...KeyObject[]] {
  const keyOf = (root: RootKeys['current']) => subKey(root.key, 'svc/dpop-nonce/v1');
  return previous ? [keyOf(current), keyOf(previous)] : [keyOf(current)];
}

/** The nonce of these five minutes: base64url of the slot, 8 bytes big-endian, and 16 bytes of its HMAC. Every process makes the same. */
export const dpopNonce = ([key]: readonly [KeyObject, ...KeyObject[]], now: Date): string =>
  nonceOf(key, slotAt(now)).toString('base64url');

/** Whether the nonce is ours, of the current slot or the one before. */
function isOwnNonce(keys: readonly KeyObject[], nonce: string, now: Date): boolean {
  if (!/^[A-Za-z0-9_-]{32}$/.test(nonce)) return false;
  const given = Buffer.from(nonce, 'base64url');
  const slot = slotAt(now);
  return keys.some((key) => [slot, slot - 1n].some((candidate) => timingSafeEqual(given, nonceOf(key, candidate))));
}

const slotAt = (now: Date): bigint => BigInt(Math.floor(now.getTime() / 1000 / SLOT_SEC));

function nonceOf(key: KeyObject, slot: bigint): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.writeBigUInt64BE(slot);
  createHmac('sha256', key).update('dpop-nonce:').update(bytes.subarray(0, 8)).digest().copy(bytes, 8, 0, 16);
  return bytes;
}

const refused = (reason: ProofFault, problem: string) => new ProofRefused(reason, `The DPoP proof ${problem}.`);
