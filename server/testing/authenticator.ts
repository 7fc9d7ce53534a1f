import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { env } from '#server/platform/env.ts';

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';
type Options = { challenge: string; user?: { id: string } };
/** What an attacker or a broken device would change. */
export type Lies = {
  origin?: string;
  rp_id?: string;
  type?: string;
  challenge?: string;
  counter?: number;
  unverified?: true;
  absent?: true;
  cross_origin?: true;
  backed_up?: boolean;
  handle?: string | null;
};

/** A security device in software (WebAuthn §6): real keys, real attestations of format none, real assertions. */
export function authenticator(algorithm: Algorithm = 'ES256', { counts = true }: { counts?: boolean } = {}) {
  const { publicKey, privateKey } = keyPair(algorithm);
  const id = randomBytes(32);
  let counter = 0;
  let user = '';

  /** Answers `register-options`. */
  const create = ({ challenge, user: owner }: Options, lies: Lies = {}) => {
    user = owner?.id ?? '';
    const authData = Buffer.concat([head(lies, counter, 0x40), Buffer.alloc(16), lengthOf(id), id, cose(algorithm, publicKey)]);
    const attestation = cbor(
      new Map<unknown, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    );
    return answer({
      clientDataJSON: clientData('webauthn.create', challenge, lies),
      attestationObject: attestation,
      transports: ['internal'],
    });
  };

  /** Answers options of a sign-in or a step-up. */
  const get = ({ challenge }: Options, lies: Lies = {}) => {
    counter = lies.counter ?? (counts ? counter + 1 : 0);
    const authData = head(lies, counter, 0);
    const client = clientData('webauthn.get', challenge, lies);
    const signed = Buffer.concat([authData, createHash('sha256').update(client).digest()]);
    const signature = sign(algorithm === 'EdDSA' ? null : 'sha256', signed, privateKey);
    const handle = lies.handle === undefined ? user : lies.handle;
    return answer({ clientDataJSON: client, authenticatorData: authData, signature, ...(handle ? { userHandle: handle } : {}) });
  };

  const answer = (response: Record<string, unknown>) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
    response: Object.fromEntries(Object.entries(response).map(([name, v]) => [name, Buffer.isBuffer(v) ? v.toString('base64url') : v])),
  });
  return { create, get, id: id.toString('base64url') };
}

/** Hash of the domain, flags and counter (WebAuthn §6.1). */
function head({ rp_id, absent, unverified, backed_up = true }: Lies, counter: number, more: number): Buffer {
  const flags = (absent ? 0 : 0x01) | (unverified ? 0 : 0x04) | 0x08 | (backed_up ? 0x10 : 0) | more;
  const tail = Buffer.alloc(5);
  tail.writeUInt8(flags, 0);
  tail.writeUInt32BE(counter, 1);
  return Buffer.concat([
    createHash('sha256')
      .update(rp_id ?? env.WEBAUTHN_RP_ID)
      .digest(),
    tail,
  ]);
}

const clientData = (type: string, challenge: string, lies: Lies): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: lies.type ?? type,
      challenge: lies.challenge ?? challenge,
      origin: lies.origin ?? new URL(env.PUBLIC_ADMIN_URL).origin,
      crossOrigin: lies.cross_origin ?? false,
    }),
  );

function keyPair(algorithm: Algorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** The public key as authenticators write it (RFC 9053). */
function cose(algorithm: Algorithm, key: KeyObject): Buffer {
  const { x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' }) as Record<string, string>;
  const part = (text: string) => Buffer.from(text, 'base64url');
  const members: Record<Algorithm, [number, unknown][]> = {
    ES256: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, part(x)],
      [-3, part(y)],
    ],
    EdDSA: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, part(x)],
    ],
    RS256: [
      [1, 3],
      [3, -257],
      [-1, part(n)],
      [-2, part(e)],
    ],
  };
  return cbor(new Map<unknown, unknown>(members[algorithm]));
}

/** Numbers, texts, bytes and maps (RFC 8949). */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === 'string') return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value]);
  if (value instanceof Map) return Buffer.concat([cborHead(5, value.size), ...[...value].flatMap(([k, v]) => [cbor(k), cbor(v)])]);
  throw new TypeError('no CBOR for this');
}

function cborHead(major: number, n: number): Buffer {
  if (n < 24) return Buffer.from([(major << 5) | n]);
  return n < 256 ? Buffer.from([(major << 5) | 24, n]) : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return length;
}
