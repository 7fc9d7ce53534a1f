import { createPrivateKey, type KeyObject } from 'node:crypto';
import ssh2 from 'ssh2';
import { invalid } from '#server/kernel/errors.ts';

const LEAST_RSA_BITS = 2_048;

/** Parses the key with its passphrase: Ed25519, ECDSA or RSA of 2,048 bits or more, as OpenSSH or PKCS#8 PEM. @throws Refusal validation_error */
export function assertSshKey(text: string, passphrase: string | undefined): void {
  const key = text.includes('-----BEGIN OPENSSH PRIVATE KEY-----') ? opensshKey(text, passphrase) : pkcs8Key(text, passphrase);
  if (!key) throw invalid('ssh_private_key', 'must be a private key in OpenSSH or PKCS#8 PEM form, with its passphrase if it has one');
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa' && (details?.modulusLength ?? 0) < LEAST_RSA_BITS)
    throw invalid('ssh_private_key', `must have at least ${LEAST_RSA_BITS} bits`);
  if (type !== 'rsa' && type !== 'ec' && type !== 'ed25519') throw invalid('ssh_private_key', 'must be Ed25519, ECDSA or RSA');
}

/** The public half tells type and size. */
function opensshKey(text: string, passphrase: string | undefined): Pick<KeyObject, 'asymmetricKeyType' | 'asymmetricKeyDetails'> | null {
  const parsed = ssh2.utils.parseKey(text, passphrase);
  if (parsed instanceof Error) return null;
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!key?.isPrivateKey()) return null;
  if (key.type === 'ssh-ed25519') return { asymmetricKeyType: 'ed25519' };
  if (key.type.startsWith('ecdsa-sha2-')) return { asymmetricKeyType: 'ec' };
  if (key.type === 'ssh-dss') return { asymmetricKeyType: 'dsa' };
  // mpint e, mpint n behind the name (RFC 4253 §6.6).
  const blob = key.getPublicSSH();
  const partAt = (at: number) => blob.subarray(at + 4, at + 4 + blob.readUInt32BE(at));
  const exponentAt = 4 + blob.readUInt32BE(0);
  const modulus = partAt(exponentAt + 4 + blob.readUInt32BE(exponentAt));
  const bytes = modulus[0] === 0 ? modulus.subarray(1) : modulus;
  return { asymmetricKeyType: 'rsa', asymmetricKeyDetails: { modulusLength: bytes.length * 8 - Math.clz32(bytes[0] ?? 0) + 24 } };
}

function pkcs8Key(text: string, passphrase: string | undefined): KeyObject | null {
  if (!/-----BEGIN (?:ENCRYPTED )?PRIVATE KEY-----/.test(text)) return null;
  try {
    return createPrivateKey({ key: text, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    return null;
  }
}
