import assert from 'node:assert/strict';
import { createPublicKey, createSecretKey, type JsonWebKey } from 'node:crypto';
import { KEY_TYPES, type KeyType } from '#server/kernel/key-types.ts';
import { parseCompactJws } from '../compact-jws.ts';
import { hkdf } from '../derive.ts';
import { bytesIn, type Case, type Group, type Judgement, throws, wycheproof } from '../wycheproof.fixture.ts';
import { decrypt, encryptWithIv, parseCipherText } from './cipher-text.ts';
import { JWT_SIGNING } from './jwt.ts';
import { materialOf } from './material.fixture.ts';
import { Material } from './material.ts';
import { publicKey } from './public-keys.ts';
import { type SigningOptions, signingOptions, verify, verifyWith } from './signatures.ts';

wycheproof('AES-GCM', ['aes_gcm_test'], (_group, vector) => {
  const [key, iv, aad, message, ciphertext, tag] = ['key', 'iv', 'aad', 'msg', 'ct', 'tag'].map((member) => bytesIn(vector, member)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  if (key.length !== 32) {
    assert.throws(() => materialOf('aes256-gcm', key), TypeError);
    return 'outside';
  }
  const material = materialOf('aes256-gcm', key);
  if (iv.length !== 12 || tag.length !== 16) {
    assert.throws(() => encryptWithIv(iv, material, 1, message, aad), RangeError);
    const text = `svc:v1:${Buffer.concat([iv, tag, ciphertext]).toString('base64')}`;
    assert.ok(throws(() => decrypt(material, parseCipherText(text), aad)));
    return 'outside';
  }
  const ours = `svc:v1:${Buffer.concat([iv, tag, ciphertext]).toString('base64')}`;
  const foreign = `vault:v1:${Buffer.concat([iv, ciphertext, tag]).toString('base64')}`;
  const opens = [ours, foreign].map((text) => !throws(() => assert.deepEqual(decrypt(material, parseCipherText(text), aad), message)));
  assert.equal(opens[0], opens[1]);
  if (opens[0]) assert.equal(encryptWithIv(iv, material, 1, message, aad), ours);
  return opens[0] ? 'accepted' : 'refused';
});

for (const type of ['hmac-sha256', 'hmac-sha512'] as const)
  wycheproof(type, [`${type.replace('-', '_')}_test`], async (group, vector) => {
    // Keys of ours have one length; the MAC must be right for all.
    const material = new Material(type, createSecretKey(bytesIn(vector, 'key')));
    const valid = await verify(material, bytesIn(vector, 'msg'), bytesIn(vector, 'tag'), signingOptions(type));
    if (group.tagSize === Number(type.slice(-3))) return valid ? 'accepted' : 'refused';
    assert.equal(valid, false, 'a shortened MAC is none');
    return 'outside';
  });

wycheproof('HKDF-SHA256', ['hkdf_sha256_test'], (_group, vector) => {
  if (vector.result !== 'valid') return 'outside'; // lengths we never ask for
  const [ikm, salt, info, okm] = ['ikm', 'salt', 'info', 'okm'].map((member) => bytesIn(vector, member)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  if (info.length > 1_024) return 'outside'; // Node's own limit
  const ours = hkdf(createSecretKey(ikm), salt, info).export();
  const both = Math.min(32, okm.length); // a shorter output is the beginning of a longer one
  return ours.subarray(0, both).equals(okm.subarray(0, both)) ? 'accepted' : 'refused';
});

async function verified(type: KeyType, options: SigningOptions, group: Group, vector: Case): Promise<Judgement> {
  const { publicKeyDer } = group as { publicKeyDer: string };
  const der = Buffer.from(publicKeyDer, 'hex');
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  assertSameJwk(type, der, group);
  return (await verifyWith(type, key, bytesIn(vector, 'msg'), bytesIn(vector, 'sig'), options)) ? 'accepted' : 'refused';
}

/** The JWK we publish for a key is the one of the authors of the cases. */
function assertSameJwk(type: KeyType, spki: Buffer, { publicKeyJwk }: Group): void {
  if (!publicKeyJwk) return;
  const { jwk } = publicKey(type, spki, { key_id: '5b1c7d2e-8f40-4c1a-9a55-0d2f3c4b5a61', version: 1 });
  for (const member of ['kty', 'crv', 'x', 'y', 'n', 'e'] as const) assert.equal(jwk[member], (publicKeyJwk as JsonWebKey)[member], member);
}

for (const [type, curve, hashes] of [
  ['ecdsa-p256', 'secp256r1', ['sha256', 'sha512']],
  ['ecdsa-p384', 'secp384r1', ['sha256', 'sha384', 'sha512']],
] as const)
  for (const hash of hashes) {
    const file = `ecdsa_${curve}_${hash}`;
    wycheproof(`${type} ${hash}, DER`, [`${file}_test`], (...its) => verified(type, signingOptions(type, { hash }), ...its));
    if (file !== 'ecdsa_secp384r1_sha256')
      // of which there is no such file
      wycheproof(`${type} ${hash}, r and s`, [`${file}_p1363_test`], (...its) =>
        verified(type, { ...signingOptions(type, { hash }), ecdsa: 'ieee-p1363' }, ...its),
      );
  }

wycheproof('ed25519', ['ed25519_test'], (...its) => verified('ed25519', signingOptions('ed25519'), ...its));

for (const bits of [2048, 3072, 4096] as const)
  for (const hash of ['sha256', 'sha384', 'sha512'] as const) {
    const type = `rsa-${bits}` as const;
    wycheproof(`${type} ${hash}, PKCS #1 v1.5`, [`rsa_signature_${bits}_${hash}_test`], (...its) =>
      verified(type, signingOptions(type, { hash, rsa_padding: 'pkcs1v15' }), ...its),
    );
  }

for (const file of [
  '2048_sha256_mgf1_32',
  '2048_sha384_mgf1_48',
  '3072_sha256_mgf1_32',
  '4096_sha256_mgf1_32',
  '4096_sha384_mgf1_48',
  '4096_sha512_mgf1_64',
])
  wycheproof(`RSA-PSS ${file}`, [`rsa_pss_${file}_test`], (...its) => {
    const [bits, hash] = file.split('_') as [string, string];
    const type = `rsa-${bits}` as KeyType;
    return verified(type, signingOptions(type, { hash, rsa_padding: 'pss' }), ...its);
  });

for (const file of ['2048_sha256_mgf1_0', '2048_sha256_mgf1sha1_20', '4096_sha512_mgf1_32'])
  wycheproof(`RSA-PSS with another salt length or mask, ${file}`, [`rsa_pss_${file}_test`], async (group, vector) => {
    const [bits, hash] = file.split('_') as [string, string];
    const type = `rsa-${bits}` as KeyType;
    const judgement = await verified(type, signingOptions(type, { hash, rsa_padding: 'pss' }), group, vector);
    if (vector.result === 'valid') assert.equal(judgement, 'refused', 'the salt is as long as the digest');
    return 'outside' as const;
  });

const JWK_TYPES: Readonly<Record<string, KeyType>> = { HS256: 'hmac-sha256', ES256: 'ecdsa-p256', RS: 'rsa-2048', PS: 'rsa-2048' };

/** Cases 367 and 370, "invalid padding", lost their padding: their text is the one of case 357, which is valid. */
const SAME_AS_VALID = new Set([367, 370]);

wycheproof('JWS', ['json_web_signature_test'], async (group, { tcId, jws }) => {
  const jwk = (group.public ?? group.private) as JsonWebKey & { alg?: string };
  const type = JWK_TYPES[jwk.alg ?? ''] ?? JWK_TYPES[jwk.alg?.slice(0, 2) ?? ''];
  if (!type || SAME_AS_VALID.has(tcId)) return 'outside'; // P-521, and keys for encryption
  const parsed = parseCompactJws(jws as string);
  // A token of ours always has a payload. The authors forgive characters that aren't of the alphabet; we don't.
  if (!parsed) return /\.\.|[^A-Za-z0-9_.-]/.test(jws as string) ? 'outside' : 'refused';
  const alg = KEY_TYPES[type].jwt.find((name) => name === parsed.header.alg);
  if (!alg || 'crit' in parsed.header) return 'refused';
  if (alg !== jwk.alg) return 'outside'; // keys of ours are not limited to one algorithm of their type
  const secret = () => new Material(type, createSecretKey(Buffer.from(jwk.k as string, 'base64url')));
  const valid = await (jwk.kty === 'oct'
    ? verify(secret(), parsed.signed, parsed.signature, JWT_SIGNING[alg])
    : verifyWith(type, createPublicKey({ key: jwk, format: 'jwk' }), parsed.signed, parsed.signature, JWT_SIGNING[alg]));
  return valid ? 'accepted' : 'refused';
});
