import { fromBase64url, toBase64url } from './base64url.ts';

// Seals values for a workspace with its public key: the scheme `kc`, version 1. Only the service can open them. WebCrypto and nothing else.

/** What `GET /v1/encrypt/sealing-bundle` answers: a public key and its name. Nothing in it is secret. */
export type SealingBundle = {
  /** The uncompressed P-256 point (04, X, Y) in base64url. */
  public_key_raw: string;
  key_ref: { tenant_id: string; app_key_id: string; key_version: number };
};

export type Sealable = string | number | boolean | null | readonly unknown[] | { readonly [name: string]: unknown };

/** s string, n number, b boolean, j JSON, x raw bytes. */
export type Datatype = 's' | 'n' | 'b' | 'j' | 'x';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ROLE = /^[a-z0-9][a-z0-9_.-]{0,62}$/;
/** The service opens no larger value. */
const LONGEST = 64 * 1024;

/** Seals values one by one. A purpose is bound in: whoever opens the value must name the same one (the data role of the API). */
export class SvcEncryptor {
  readonly #bundle: SealingBundle;
  readonly #role: string;
  #recipient: Promise<CryptoKey> | undefined;

  /** @throws TypeError when the bundle or the purpose is malformed, or the page has no WebCrypto */
  constructor(bundle: SealingBundle, purpose?: string) {
    if (globalThis.crypto?.subtle === undefined)
      throw new TypeError('Encryption needs a secure context: serve this page over https, or from localhost.');
    assertBundle(bundle);
    if (purpose !== undefined && !ROLE.test(purpose))
      throw new TypeError('A purpose has 1 to 63 lowercase letters, digits, "_", "." and "-", and starts with a letter or digit.');
    this.#bundle = bundle;
    this.#role = purpose ?? '';
  }

  /** Seals a string, finite number, boolean or null as itself, and an object or array whole as JSON. @throws TypeError, RangeError over 64 KiB */
  async encrypt(value: Sealable): Promise<string> {
    const { datatype, text } = plaintextOf(value);
    return this.#seal(datatype, new TextEncoder().encode(text));
  }

  /** Seals raw bytes. @throws RangeError over 64 KiB */
  encryptBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    return this.#seal('x', bytes);
  }

  async #seal(datatype: Datatype, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    if (bytes.length > LONGEST) throw new RangeError('A sealed value holds at most 64 KiB.');
    this.#recipient ??= recipientOf(this.#bundle);
    const recipient = await this.#recipient;
    const ephemeral = await crypto.subtle.generateKey(P256, false, ['deriveBits']);
    return sealed({
      bundle: this.#bundle,
      recipient,
      role: this.#role,
      datatype,
      bytes,
      ephemeral,
      iv: crypto.getRandomValues(new Uint8Array(12)),
    });
  }
}

const P256 = { name: 'ECDH', namedCurve: 'P-256' } as const;

/** @throws TypeError for a point that is not on the curve */
const recipientOf = ({ public_key_raw }: SealingBundle): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', fromBase64url(public_key_raw), P256, false, []).catch(() => {
    throw new TypeError('The public key of the sealing bundle is no point of P-256.');
  });

export type Sealing = {
  bundle: SealingBundle;
  recipient: CryptoKey;
  role: string;
  datatype: Datatype;
  bytes: Uint8Array<ArrayBuffer>;
  /** Fresh for each value, as is the IV; given only by tests. */
  ephemeral: CryptoKeyPair;
  iv: Uint8Array<ArrayBuffer>;
};

/** ECDH, HKDF-SHA256 salted with the ephemeral point, AES-256-GCM with the header as additional data. */
export async function sealed({ bundle, recipient, role, datatype, bytes, ephemeral, iv }: Sealing): Promise<string> {
  const { tenant_id, app_key_id, key_version } = bundle.key_ref;
  const utf8 = (text: string) => new TextEncoder().encode(text);
  const point = new Uint8Array(await crypto.subtle.exportKey('raw', ephemeral.publicKey));
  const shared = await crypto.subtle.deriveBits({ name: 'ECDH', public: recipient }, ephemeral.privateKey, 256);
  const secret = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveKey']);
  const info = utf8(`kc/1|tenant=${tenant_id}|role=${role}`);
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: point, info };
  const key = await crypto.subtle.deriveKey(derivation, secret, { name: 'AES-GCM', length: 256 }, false, ['encrypt']);
  const reference = utf8(`${tenant_id}:${app_key_id}:${key_version}`);
  const header = ['kc', '1', datatype, toBase64url(reference), toBase64url(point), toBase64url(iv)].join(':');
  const ciphertext = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: utf8(header) }, key, bytes);
  return `${header}:${toBase64url(new Uint8Array(ciphertext))}:$`;
}

/** @throws TypeError for what JSON cannot say */
function plaintextOf(value: unknown): { datatype: Datatype; text: string } {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new TypeError('The string holds half a character (a lone surrogate), which has no UTF-8.');
    return { datatype: 's', text: value };
  }
  if (typeof value === 'boolean') return { datatype: 'b', text: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError('NaN and infinity cannot be sealed: JSON has no such numbers.');
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`A value of type ${typeof value} cannot be sealed.`);
  return { datatype: typeof value === 'number' ? 'n' : 'j', text };
}

function assertBundle(bundle: SealingBundle): void {
  const { tenant_id, app_key_id, key_version } = bundle?.key_ref ?? {};
  const isVersion = Number.isInteger(key_version) && key_version >= 1 && key_version <= 999_999_999;
  if (typeof tenant_id !== 'string' || typeof app_key_id !== 'string' || !UUID.test(tenant_id) || !UUID.test(app_key_id) || !isVersion)
    throw new TypeError('The sealing bundle has no valid key_ref. Pass the answer of GET /v1/encrypt/sealing-bundle.');
  const point = typeof bundle.public_key_raw === 'string' ? fromBase64url(bundle.public_key_raw) : new Uint8Array();
  if (point.length !== 65 || point[0] !== 4)
    throw new TypeError('The sealing bundle has no valid public_key_raw. Pass the answer of GET /v1/encrypt/sealing-bundle.');
}
