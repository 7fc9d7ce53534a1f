// A PKCS #12 file made in the browser: the passphrase and the file never leave it (RFC 7292, with PBES2 of RFC 8018 as OpenSSL 3 and Windows write it).

type Bytes = Uint8Array<ArrayBuffer>;
export type Pkcs12Content = {
  /** PKCS #8, unencrypted. */
  private_key_pem: string;
  cert_pem: string;
  /** Certificates above it, in any number. */
  ca_chain_pem: string;
  /** How key stores list it. */
  name: string;
  passphrase: string;
};

const KEY_ITERATIONS = 200_000;
/** Each is a call of the browser's: more would be felt. */
const MAC_ITERATIONS = 10_000;

/** The key, its certificate and its chain as one file that a passphrase opens. */
export async function pkcs12Of({ private_key_pem, cert_pem, ca_chain_pem, name, passphrase }: Pkcs12Content): Promise<Bytes> {
  const [key] = blocksOf(private_key_pem);
  const [leaf] = blocksOf(cert_pem);
  if (!key || !leaf) throw new TypeError('a key and a certificate are needed');
  // Ties the key to its certificate (PKCS #9 localKeyID), and names both.
  const attributes = set(
    sequence(oid('1.2.840.113549.1.9.20'), set(tagged(0x1e, utf16(name)))),
    sequence(oid('1.2.840.113549.1.9.21'), set(octets(await sha256(leaf)))),
  );
  const shrouded = await encrypted(passphrase, key);
  const keys = sequence(
    sequence(oid('1.2.840.113549.1.12.10.1.2'), tagged(0xa0, sequence(shrouded.algorithm, octets(shrouded.bytes))), attributes),
  );
  const certificates = sequence(certBag(leaf, attributes), ...blocksOf(ca_chain_pem).map((der) => certBag(der)));
  const sealed = await encrypted(passphrase, certificates);
  const safe = sequence(
    sequence(
      oid('1.2.840.113549.1.7.6'),
      tagged(0xa0, sequence(integer(0), sequence(oid(DATA), sealed.algorithm, tagged(0x80, sealed.bytes)))),
    ),
    sequence(oid(DATA), tagged(0xa0, octets(keys))),
  );
  const salt = random(16);
  const mac = await hmac(await macKey(passphrase, salt), safe);
  const sha256Name = sequence(oid('2.16.840.1.101.3.4.2.1'), NULL);
  return sequence(
    integer(3),
    sequence(oid(DATA), tagged(0xa0, octets(safe))),
    sequence(sequence(sha256Name, octets(mac)), octets(salt), integer(MAC_ITERATIONS)),
  );
}

const DATA = '1.2.840.113549.1.7.1';

const certBag = (der: Bytes, ...attributes: Bytes[]) =>
  sequence(
    oid('1.2.840.113549.1.12.10.1.3'),
    tagged(0xa0, sequence(oid('1.2.840.113549.1.9.22.1'), tagged(0xa0, octets(der)))),
    ...attributes,
  );

/** AES-256-CBC under a key from PBKDF2 with HMAC-SHA-256. */
async function encrypted(passphrase: string, content: Bytes): Promise<{ algorithm: Bytes; bytes: Bytes }> {
  const [salt, iv] = [random(16), random(16)];
  const base = await crypto.subtle.importKey('raw', new TextEncoder().encode(passphrase), 'PBKDF2', false, ['deriveKey']);
  const key = await crypto.subtle.deriveKey(
    { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: KEY_ITERATIONS },
    base,
    { name: 'AES-CBC', length: 256 },
    false,
    ['encrypt'],
  );
  const kdf = sequence(
    oid('1.2.840.113549.1.5.12'),
    sequence(octets(salt), integer(KEY_ITERATIONS), sequence(oid('1.2.840.113549.2.9'), NULL)),
  );
  const cipher = sequence(oid('2.16.840.1.101.3.4.1.42'), octets(iv));
  return {
    algorithm: sequence(oid('1.2.840.113549.1.5.13'), sequence(kdf, cipher)),
    bytes: new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-CBC', iv }, key, content)),
  };
}

/** RFC 7292 appendix B.2 for one block: SHA-256 takes 64 bytes at a time and gives 32. */
async function macKey(passphrase: string, salt: Bytes): Promise<Bytes> {
  const filled = (bytes: Bytes) => Uint8Array.from({ length: Math.ceil(bytes.length / 64) * 64 }, (_, i) => bytes[i % bytes.length] ?? 0);
  let block = join(new Uint8Array(64).fill(3), filled(salt), filled(join(utf16(passphrase), new Uint8Array(2))));
  for (let i = 0; i < MAC_ITERATIONS; i++) block = await sha256(block);
  return block;
}

async function hmac(key: Bytes, content: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, content));
}

const sha256 = async (bytes: Bytes): Promise<Bytes> => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
const random = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));

/** The bytes of every block of a PEM text. */
export const blocksOf = (pem: string): Bytes[] =>
  [...pem.matchAll(/-----BEGIN [A-Z0-9 ]+-----([A-Za-z0-9+/=\s]+)-----END/g)].map(([, text = '']) =>
    Uint8Array.from(atob(text.replace(/\s/g, '')), (letter) => letter.charCodeAt(0)),
  );

/** Big-endian, as BMPString has it. */
const utf16 = (text: string): Bytes =>
  Uint8Array.from([...Array(text.length).keys()].flatMap((i) => [text.charCodeAt(i) >> 8, text.charCodeAt(i) & 255]));

function join(...parts: readonly Bytes[]): Bytes {
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

// DER, as much of it as such a file needs.

function tagged(tag: number, ...content: readonly Bytes[]): Bytes {
  const inner = join(...content);
  const length = inner.length < 128 ? [inner.length] : longLength(inner.length);
  return join(Uint8Array.of(tag, ...length), inner);
}
function longLength(length: number): number[] {
  const digits = bigEndian(length);
  return [0x80 | digits.length, ...digits];
}
const bigEndian = (value: number): number[] => (value < 256 ? [value] : [...bigEndian(Math.floor(value / 256)), value % 256]);

const NULL = tagged(0x05);
const sequence = (...parts: readonly Bytes[]): Bytes => tagged(0x30, ...parts);
/** Sorted, as DER wants a SET OF. */
const set = (...parts: readonly Bytes[]): Bytes => tagged(0x31, ...[...parts].sort((a, b) => (hexOf(a) < hexOf(b) ? -1 : 1)));
const hexOf = (bytes: Bytes): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const octets = (bytes: Bytes): Bytes => tagged(0x04, bytes);

/** Not negative. */
function integer(value: number): Bytes {
  const digits = bigEndian(value);
  return tagged(0x02, Uint8Array.from((digits[0] ?? 0) > 127 ? [0, ...digits] : digits));
}

function oid(text: string): Bytes {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const sevens = (value: number, last: number): number[] => [
    ...(value > 127 ? sevens(Math.floor(value / 128), 0x80) : []),
    (value % 128) | last,
  ];
  return tagged(0x06, Uint8Array.from([first * 40 + second, ...rest].flatMap((arc) => sevens(arc, 0))));
}
