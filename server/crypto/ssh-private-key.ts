import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import ssh2, { type ParsedKey } from 'ssh2';
import { grouped } from '#server/kernel/numbers.ts';
import { MOST_KEY_ROUNDS, roundsOfKey } from './encrypted-key.ts';
import { isOnUnnamedCurve, UNNAMED_CURVE } from './named-curve.ts';

// Private keys for SSH as people have them: OpenSSH's own format, PKCS#8, or the older PEM. What is costly about opening one is chosen by whoever made it,
// so it is looked at before.

/** The message is ours and says nothing of the key. */
export class SshKeyRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SshKeyRefused';
  }
}

export type SshPrivateKey = {
  type: 'ed25519' | 'ecdsa' | 'rsa';
  bits: number;
  /** For the driver. */
  key: ParsedKey;
};

const MOST_TEXT = 32 * 1024;
/** `ssh-keygen -a 100` is what guides say; each costs milliseconds. */
const MOST_ROUNDS = 200;
const LEAST_RSA = 2_048;
const MOST_RSA = 8_192;

/** Opens a private key: Ed25519, ECDSA (nistp256, nistp384, nistp521), or RSA of 2,048 to 8,192 bits. @throws SshKeyRefused */
export function sshPrivateKey(text: string, passphrase?: string): SshPrivateKey {
  if (text.length > MOST_TEXT) throw new SshKeyRefused('The private key is too long.');
  const label = /-----BEGIN ([A-Z ]{0,30})PRIVATE KEY-----/.exec(text)?.[1]?.trim();
  if (label === undefined) throw new SshKeyRefused('The private key is not in OpenSSH or PEM format.');
  const key = parsed(
    label === 'OPENSSH' ? openssh(text) : label === '' || label === 'ENCRYPTED' ? converted(text, label, passphrase) : text,
    passphrase,
  );
  const type = TYPES.find(([name]) => name.test(key.type))?.[1];
  if (type === undefined) throw new SshKeyRefused('The private key is of a kind that is not supported. Use Ed25519, ECDSA or RSA.');
  const bits = type === 'ed25519' ? 256 : sizeOf(key);
  if (type === 'rsa' && (bits < LEAST_RSA || bits > MOST_RSA))
    throw new SshKeyRefused(`An RSA key must have ${grouped(LEAST_RSA)} to ${grouped(MOST_RSA)} bits.`);
  return { type, bits, key };
}

const TYPES = [
  [/^ssh-ed25519$/, 'ed25519'],
  [/^ecdsa-sha2-nistp(?:256|384|521)$/, 'ecdsa'],
  [/^ssh-rsa$/, 'rsa'],
] as const;

function parsed(text: string, passphrase: string | undefined): ParsedKey {
  const found: ParsedKey | Error | ParsedKey[] = ssh2.utils.parseKey(text, passphrase);
  const key = Array.isArray(found) ? found[0] : found;
  if (key === undefined || key instanceof Error) {
    const wants = key instanceof Error && /passphrase|decrypt|integrity|bad key/i.test(key.message);
    throw new SshKeyRefused(wants ? 'The passphrase does not open the private key.' : 'The private key can not be read.');
  }
  if (!key.isPrivateKey()) throw new SshKeyRefused('This is not a private key.');
  return key;
}

function sizeOf(key: ParsedKey): number {
  try {
    const { asymmetricKeyDetails } = createPublicKey(key.getPublicPEM());
    return asymmetricKeyDetails?.modulusLength ?? Number(/[0-9]{3,4}$/.exec(key.type)?.[0]);
  } catch {
    throw new SshKeyRefused('The private key can not be read.');
  }
}

/** The text, after a look at how often its passphrase is hashed (PROTOCOL.key of OpenSSH, section 1). */
function openssh(text: string): string {
  const bytes = bodyOf(text);
  const magic = 'openssh-key-v1\0';
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic) throw new SshKeyRefused('The private key can not be read.');
  try {
    let at = magic.length;
    const next = () => {
      const length = bytes.readUInt32BE(at);
      at += 4 + length;
      return bytes.subarray(at - length, at);
    };
    next(); // the cipher
    const kdf = next().toString('latin1');
    const options = next();
    const rounds = kdf === 'bcrypt' ? options.readUInt32BE(4 + options.readUInt32BE(0)) : 0;
    if (rounds > MOST_ROUNDS) throw new SshKeyRefused(`The passphrase is hashed ${rounds} times; at most ${MOST_ROUNDS} are accepted.`);
  } catch (error) {
    throw error instanceof SshKeyRefused ? error : new SshKeyRefused('The private key can not be read.');
  }
  return text;
}

/** PKCS#8 as the driver reads keys. */
function converted(text: string, label: string, passphrase: string | undefined): string {
  if (label === 'ENCRYPTED') boundIterations(bodyOf(text));
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: text, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    throw new SshKeyRefused(label === 'ENCRYPTED' ? 'The passphrase does not open the private key.' : 'The private key can not be read.');
  }
  if (isOnUnnamedCurve(key)) throw new SshKeyRefused(`The private key ${UNNAMED_CURVE}.`);
  if (key.asymmetricKeyType === 'rsa') return key.export({ type: 'pkcs1', format: 'pem' }).toString();
  if (key.asymmetricKeyType === 'ec') return key.export({ type: 'sec1', format: 'pem' }).toString();
  if (key.asymmetricKeyType === 'ed25519') return ed25519(key);
  throw new SshKeyRefused('The private key is of a kind that is not supported. Use Ed25519, ECDSA or RSA.');
}

const bodyOf = (text: string): Buffer =>
  Buffer.from(/-----BEGIN [A-Z ]{0,40}-----([A-Za-z0-9+/=\s]*)-----END/.exec(text)?.[1] ?? '', 'base64');

/** OpenSSH's format of an Ed25519 key without a passphrase (PROTOCOL.key). */
function ed25519(key: KeyObject): string {
  const { x = '', d = '' } = key.export({ format: 'jwk' });
  const [open, secret] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')];
  const name = Buffer.from('ssh-ed25519');
  const number = (value: number) => {
    const four = Buffer.alloc(4);
    four.writeUInt32BE(value);
    return four;
  };
  const text = (bytes: Buffer) => Buffer.concat([number(bytes.length), bytes]);
  const none = text(Buffer.from('none'));
  const inner = Buffer.concat([number(0), number(0), text(name), text(open), text(Buffer.concat([secret, open])), text(Buffer.alloc(0))]);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (inner.length % 8)) % 8));
  const all = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[none, none, text(Buffer.alloc(0)), number(1), text(Buffer.concat([text(name), text(open)]))],
    text(Buffer.concat([inner, padding])),
  ]);
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${all.toString('base64').replace(/.{70}/g, '$&\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

/** @throws SshKeyRefused for a passphrase that is hashed in another way, or too often */
function boundIterations(der: Buffer): void {
  const rounds = roundsOfKey(der);
  if (rounds === undefined) throw new SshKeyRefused('The private key is encrypted in a way that is not supported. Use PBES2 with PBKDF2.');
  if (rounds > MOST_KEY_ROUNDS) throw new SshKeyRefused('The passphrase of the private key is hashed too often.');
}
