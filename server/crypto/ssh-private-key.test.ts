import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import ssh2 from 'ssh2';
import { SshKeyRefused, sshPrivateKey } from './ssh-private-key.ts';

/** The driver's generator drops leading zeros of Ed25519 keys, once in 300: such a key is no key. */
function generate(
  type: 'ed25519' | 'ecdsa' | 'rsa',
  options: { bits?: number; cipher?: 'aes256-ctr'; passphrase?: string; rounds?: number } = {},
) {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync(type as never, options as never);
    if (!(ssh2.utils.parseKey(pair.private, options.passphrase) instanceof Error)) return pair;
  }
}
const pem = { type: 'pkcs8', format: 'pem' } as const;
const refusal = (text: string, passphrase?: string) => {
  try {
    sshPrivateKey(text, passphrase);
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof SshKeyRefused, String(error));
    return error.message;
  }
};
const rsa = (bits: number) => generateKeyPairSync('rsa', { modulusLength: bits }).privateKey;

test('keys of OpenSSH open, with and without a passphrase', () => {
  const cipher = { cipher: 'aes256-ctr', passphrase: 'open', rounds: 16 } as const;
  assert.deepEqual(kind(generate('ed25519').private), ['ed25519', 256]);
  assert.deepEqual(kind(generate('ed25519', cipher).private, 'open'), ['ed25519', 256]);
  assert.deepEqual(kind(generate('ecdsa', { bits: 384 }).private), ['ecdsa', 384]);
  assert.deepEqual(kind(generate('rsa', { bits: 2048, ...cipher }).private, 'open'), ['rsa', 2048]);
  assert.equal(refusal(generate('ed25519', cipher).private, 'wrong'), 'The passphrase does not open the private key.');
  assert.equal(refusal(generate('ed25519', cipher).private), 'The passphrase does not open the private key.');
});

test('keys of PKCS#8 and the older PEM open, and sign as the same key does', () => {
  const made = [
    ['ed25519', generateKeyPairSync('ed25519').privateKey, undefined],
    ['ecdsa', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, 'sec1'],
    ['rsa', rsa(2048), 'pkcs1'],
  ] as const;
  for (const [type, key, older] of made) {
    const texts = [
      [key.export(pem), undefined],
      [key.export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'open' }), 'open'],
      ...(older ? [[key.export({ type: older, format: 'pem' }), undefined] as const] : []),
    ] as const;
    for (const [text, passphrase] of texts) {
      const opened = sshPrivateKey(text.toString(), passphrase);
      assert.equal(opened.type, type);
      const data = Buffer.from('challenge');
      const signature = opened.key.sign(data, type === 'rsa' ? 'sha256' : undefined);
      assert.ok(Buffer.isBuffer(signature) && opened.key.verify(data, signature, type === 'rsa' ? 'sha256' : undefined), type);
    }
    const encrypted = key.export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'open' }).toString();
    assert.equal(refusal(encrypted, 'wrong'), 'The passphrase does not open the private key.');
    assert.equal(refusal(encrypted), 'The passphrase does not open the private key.');
  }
});

test('weak and unknown keys are refused, and what is no key', () => {
  assert.equal(refusal(rsa(1024).export(pem).toString()), 'An RSA key must have 2,048 to 8,192 bits.');
  assert.match(refusal(generateKeyPairSync('x25519').privateKey.export(pem).toString()), /not supported/);
  assert.match(
    refusal(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export(pem).toString()),
    /can not be read|not supported/,
  );
  assert.match(refusal(generate('ed25519').public), /not in OpenSSH or PEM format/);
  assert.match(refusal(''), /not in OpenSSH or PEM format/);
  assert.match(refusal('-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----'), /can not be read/);
  assert.match(refusal('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'), /can not be read/);
  assert.match(refusal(`-----BEGIN OPENSSH PRIVATE KEY-----${'A'.repeat(40_000)}`), /too long/);
});

test('a passphrase that is hashed without end is refused before it is', () => {
  // Either file takes hours to open.
  const text = generate('ed25519', { cipher: 'aes256-ctr', passphrase: 'open', rounds: 16 }).private;
  const bytes = Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64');
  // magic, cipher, kdf, then the length of the options, of the salt, the salt
  const at = bytes.indexOf('bcrypt') + 6 + 4 + 4 + 16;
  assert.equal(bytes.readUInt32BE(at), 16);
  bytes.writeUInt32BE(0xffff_fff0, at);
  const hostile = `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
  assert.match(refusal(hostile, 'open'), /hashed 4294967280 times/);

  const pkcs8 = generateKeyPairSync('ed25519')
    .privateKey.export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'open' })
    .toString();
  const der = Buffer.from(pkcs8.split('\n').slice(1, -2).join(''), 'base64');
  const count = der.indexOf(Buffer.from([0x02, 0x02, 0x08, 0x00])); // 2,048
  assert.ok(count > 0);
  // As INTEGER of four bytes, whose two more bytes come from the salt; the lengths around stay right.
  const salt = count - 18;
  assert.deepEqual([...der.subarray(salt, salt + 2)], [0x04, 16]);
  const longer = Buffer.concat([
    der.subarray(0, salt + 1),
    Buffer.from([(der[salt + 1] as number) - 2]),
    der.subarray(salt + 4, count),
    Buffer.from([0x02, 0x04, 0x7f, 0xff, 0xff, 0xff]),
    der.subarray(count + 4),
  ]);
  assert.equal(longer.length, der.length);
  const slow = `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${longer.toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----\n`;
  assert.equal(refusal(slow, 'open'), 'The passphrase of the private key is hashed too often.');
});

function kind(text: string, passphrase?: string) {
  const { type, bits } = sshPrivateKey(text, passphrase);
  return [type, bits];
}
