import { createDecipheriv, createHmac, pbkdf2Sync, timingSafeEqual } from 'node:crypto';
import forge from 'node-forge';

// PFX files (RFC 7292): node-forge reads their ASN.1, derives the keys of PKCS #12 and knows RC2, which old files hide certificates with. Everything else is
// node's OpenSSL. What a file may make this process compute is bounded before anything is derived.

/** What a file holds, in DER, in its order. */
export type PfxContents = { certificates: Buffer[]; private_keys: Buffer[] };

/** `password`: the file doesn't open with this password. `costly`: it asks for more work than we do. `malformed`: anything else. */
export class PfxProblem extends Error {
  override readonly name = 'PfxProblem';
  readonly kind: 'password' | 'costly' | 'malformed';
  constructor(kind: PfxProblem['kind']) {
    super(kind);
    this.kind = kind;
  }
}

/** Rounds of PBKDF2 that a whole file may ask for; the derivation of PKCS #12, which isn't native, counts ten times. */
const MOST_ROUNDS = 2_000_000;
const PKCS12_COSTS = 10;
const MOST_BAGS = 100;

type Node = forge.asn1.Asn1;
type Reading = { passphrase: string; rounds: number; bags: number } & PfxContents;

/** Opens a file with its passphrase, `''` for none. @throws PfxProblem */
export function readPfx(der: Buffer, passphrase: string): PfxContents {
  try {
    const reading: Reading = { passphrase, rounds: MOST_ROUNDS, bags: MOST_BAGS, certificates: [], private_keys: [] };
    const [, content, mac] = children(parsed(der));
    const safe = plainContent(content);
    if (mac) checkMac(reading, mac, safe);
    for (const info of children(parsed(safe))) readSafe(reading, info, mac !== undefined);
    const { certificates, private_keys } = reading;
    return { certificates, private_keys };
  } catch (error) {
    throw error instanceof PfxProblem ? error : new PfxProblem('malformed');
  }
}

/** Whether bytes begin as a PFX file does: a sequence whose first member is the version 3. */
export const looksLikePfx = (der: Uint8Array): boolean => {
  const lengthBytes = (der[1] ?? 0) & 0x80 ? (der[1] ?? 0) & 0x7f : 0;
  const at = 2 + lengthBytes;
  return der[0] === 0x30 && der[at] === 2 && der[at + 1] === 1 && der[at + 2] === 3;
};

function readSafe(reading: Reading, info: Node, passwordIsRight: boolean): void {
  const [type, wrapped] = children(info);
  if (oidOf(type) === forge.pki.oids.data) {
    readBags(reading, parsed(plainContent(info)));
    return;
  }
  if (oidOf(type) !== forge.pki.oids.encryptedData) throw new PfxProblem('malformed');
  const [, encrypted] = children(children(wrapped)[0]);
  const [, algorithm, ciphertext] = children(encrypted);
  const bytes = decrypted(reading, algorithm, bytesOf(ciphertext));
  readBags(
    reading,
    openedAs(() => parsed(bytes), passwordIsRight),
  );
}

function readBags(reading: Reading, safe: Node): void {
  for (const bag of children(safe)) {
    if (reading.bags-- === 0) throw new PfxProblem('costly');
    const [type, wrapped] = children(bag);
    const value = children(wrapped)[0];
    switch (oidOf(type)) {
      case forge.pki.oids.certBag: {
        const [kind, content] = children(value);
        if (oidOf(kind) === forge.pki.oids.x509Certificate) reading.certificates.push(bytesOf(children(content)[0]));
        break;
      }
      case forge.pki.oids.keyBag:
        reading.private_keys.push(derOf(value));
        break;
      case forge.pki.oids.pkcs8ShroudedKeyBag: {
        const [algorithm, ciphertext] = children(value);
        reading.private_keys.push(decrypted(reading, algorithm, bytesOf(ciphertext)));
        break;
      }
      default: // revocation lists and secrets, which are no use here
    }
  }
}

/** RFC 7292 Appendix B.2: a key of the passphrase authenticates the file, which is how a wrong one is told from a broken file. */
function checkMac(reading: Reading, mac: Node, safe: Buffer): void {
  const [info, salt, iterations] = children(mac);
  const [algorithm, digest] = children(info);
  const name = DIGESTS[oidOf(children(algorithm)[0])];
  if (!name) throw new PfxProblem('malformed');
  const size = bytesOf(digest).length;
  const key = pkcs12Key(reading, 3, bytesOf(salt), iterations ? integerOf(iterations) : 1, size, name);
  const expected = createHmac(name, key).update(safe).digest();
  if (expected.length !== size || !timingSafeEqual(expected, bytesOf(digest))) throw new PfxProblem('password');
}

function decrypted(reading: Reading, algorithm: Node | undefined, ciphertext: Buffer): Buffer {
  const [oid, params] = children(algorithm);
  switch (oidOf(oid)) {
    case forge.pki.oids.pkcs5PBES2:
      return fromPbes2(reading, params, ciphertext);
    case forge.pki.oids['pbeWithSHAAnd3-KeyTripleDES-CBC']: {
      const { key, iv } = pkcs12Keys(reading, params, 24);
      return deciphered('des-ede3-cbc', key, iv, ciphertext);
    }
    case forge.pki.oids['pbewithSHAAnd40BitRC2-CBC']: {
      const { key, iv } = pkcs12Keys(reading, params, 5);
      const cipher = forge.rc2.createDecryptionCipher(key.toString('latin1'), 40);
      cipher.start(iv.toString('latin1'));
      cipher.update(forge.util.createBuffer(ciphertext.toString('latin1')));
      if (!cipher.finish()) throw new PfxProblem('password');
      return Buffer.from(cipher.output.getBytes(), 'latin1');
    }
    default:
      throw new PfxProblem('malformed');
  }
}

/** RFC 8018 §6.2, with PBKDF2 and a cipher of this table. */
function fromPbes2(reading: Reading, params: Node | undefined, ciphertext: Buffer): Buffer {
  const [kdf, scheme] = children(params);
  const [kdfType, kdfParams] = children(kdf);
  const [schemeType, iv] = children(scheme);
  const cipher = CIPHERS[oidOf(schemeType)];
  if (oidOf(kdfType) !== forge.pki.oids.pkcs5PBKDF2 || !cipher) throw new PfxProblem('malformed');
  const [salt, iterations, ...rest] = children(kdfParams);
  const prf = rest.find((one) => Array.isArray(one.value));
  const name = prf ? PRFS[oidOf(children(prf)[0])] : 'sha1';
  if (!name) throw new PfxProblem('malformed');
  const rounds = integerOf(iterations);
  spend(reading, rounds);
  const key = pbkdf2Sync(Buffer.from(reading.passphrase), bytesOf(salt), rounds, cipher.bytes, name);
  return deciphered(cipher.name, key, bytesOf(iv), ciphertext);
}

function pkcs12Keys(reading: Reading, params: Node | undefined, bytes: number) {
  const [salt, iterations] = children(params);
  const rounds = integerOf(iterations);
  return {
    key: pkcs12Key(reading, 1, bytesOf(salt), rounds, bytes, 'sha1'),
    iv: pkcs12Key(reading, 2, bytesOf(salt), rounds, 8, 'sha1'),
  };
}

function pkcs12Key(reading: Reading, use: 1 | 2 | 3, salt: Buffer, rounds: number, bytes: number, digest: Digest): Buffer {
  spend(reading, rounds * PKCS12_COSTS);
  const key = forge.pkcs12.generateKey(
    reading.passphrase,
    forge.util.createBuffer(salt.toString('latin1')),
    use,
    rounds,
    bytes,
    forge.md[digest].create(),
  );
  return Buffer.from(key.getBytes(), 'latin1');
}

function spend(reading: Reading, rounds: number): void {
  reading.rounds -= rounds;
  if (rounds < 1 || reading.rounds < 0) throw new PfxProblem('costly');
}

const deciphered = (name: string, key: Buffer, iv: Buffer, ciphertext: Buffer): Buffer =>
  openedAs(() => {
    const cipher = createDecipheriv(name, key, iv);
    return Buffer.concat([cipher.update(ciphertext), cipher.final()]);
  }, false);

/** What doesn't decrypt was encrypted under another passphrase, unless that is known to be right. */
function openedAs<T>(open: () => T, passwordIsRight: boolean): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof PfxProblem) throw error;
    throw new PfxProblem(passwordIsRight ? 'malformed' : 'password');
  }
}

type Digest = 'sha1' | 'sha256' | 'sha384' | 'sha512';
const DIGESTS: Readonly<Record<string, Digest>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
/** hmacWith… of RFC 8018 Appendix B.1.2. */
const PRFS: Readonly<Record<string, Digest>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};
const CIPHERS: Readonly<Record<string, { name: string; bytes: number }>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', bytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', bytes: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', bytes: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', bytes: 24 },
};

const parsed = (der: Buffer): Node => forge.asn1.fromDer(der.toString('latin1'));
const derOf = (node: Node | undefined): Buffer => {
  if (!node) throw new PfxProblem('malformed');
  return Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');
};

function children(node: Node | undefined): Node[] {
  if (!node || !Array.isArray(node.value)) throw new PfxProblem('malformed');
  return node.value;
}

/** The octets of a string, which BER may cut into pieces. */
function bytesOf(node: Node | undefined): Buffer {
  if (!node) throw new PfxProblem('malformed');
  if (typeof node.value === 'string') return Buffer.from(node.value, 'latin1');
  return Buffer.concat(node.value.map(bytesOf));
}

/** `data` of a ContentInfo. */
function plainContent(info: Node | undefined): Buffer {
  const [type, wrapped] = children(info);
  if (oidOf(type) !== forge.pki.oids.data) throw new PfxProblem('malformed');
  return bytesOf(children(wrapped)[0]);
}

function oidOf(node: Node | undefined): string {
  if (!node || typeof node.value !== 'string') throw new PfxProblem('malformed');
  return forge.asn1.derToOid(forge.util.createBuffer(node.value));
}

function integerOf(node: Node | undefined): number {
  const bytes = bytesOf(node);
  if (bytes.length < 1 || bytes.length > 6) throw new PfxProblem('costly');
  return bytes.readIntBE(0, bytes.length);
}
