import assert from 'node:assert/strict';
import test from 'node:test';
import { Refusal } from '#server/kernel/errors.ts';
import { KEY_TYPE_NAMES, KEY_TYPES, keyTypesFor } from '#server/kernel/key-types.ts';
import { ed25519Secret, freshMaterial, fromHex, materialOf, run } from './material.fixture.ts';
import { openMaterial } from './material.ts';
import { parseSignature, sign, signingOptions, verify } from './signatures.ts';

const hello = Buffer.from('hello');
const isInvalid = (error: unknown) => error instanceof Refusal && error.type === 'validation_error';

test('the published signatures come out byte for byte', async () => {
  const seed = fromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
  for (const [material, text] of [
    [materialOf('hmac-sha256', run(0, 32)), 'svc:v1:U8QCcqcMFcpO4K9N8fFV/WxB4AziMH2Jh+zUuzan6ZA='],
    [
      materialOf('hmac-sha512', run(0, 64)),
      'svc:v1:o2i57pPA25qmYTZRAgAy57ibKMZko6jBMZsrZhapaFTNiDB7yZfocotQ1AJ63Amtkq39Ipg/+DX1hE1z7DOb3A==',
    ],
    [
      openMaterial('ed25519', ed25519Secret(seed)),
      'svc:v1:URykl8TUJwsJixr9WuTjuVGl2iydpunAUo9XYYg2duffbkwPDhtaCkRE9CmLGILdgi+xEzy9Sav7mWyHzVuFBg==',
    ],
  ] as const) {
    const options = signingOptions(material.type);
    assert.equal(await sign(material, 1, hello, options), text);
    assert.equal(await verify(material, hello, parseSignature(text).bytes, options), true);
    assert.equal(await verify(material, Buffer.from('hellp'), parseSignature(text).bytes, options), false);
  }
});

test('every signing type verifies its own signature in every variant, and no other variant', async () => {
  for (const type of keyTypesFor('sign')) {
    const { material } = await freshMaterial(type);
    const { hashes, paddings } = KEY_TYPES[type];
    const variants = (hashes.length ? hashes : [undefined]).flatMap((hash) =>
      (paddings.length ? paddings : [undefined]).map((rsa_padding) => signingOptions(type, { hash, rsa_padding })),
    );
    for (const options of variants) {
      const { version, bytes } = parseSignature(await sign(material, 12, hello, options));
      assert.equal(version, 12);
      for (const other of variants)
        assert.equal(await verify(material, hello, bytes, other), other === options, `${type} ${JSON.stringify(options)}`);
      bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1;
      assert.equal(await verify(material, hello, bytes, options), false);
      assert.equal(await verify(material, hello, bytes.subarray(1), options), false);
      assert.equal(await verify(material, hello, Buffer.alloc(1), options), false);
    }
  }
});

test('hash and padding are refused where a type has no such choice', () => {
  assert.deepEqual(signingOptions('rsa-2048', { rsa_padding: 'pkcs1' }).padding, 'pkcs1v15');
  assert.equal(signingOptions('rsa-2048').padding, 'pss');
  assert.equal(signingOptions('ecdsa-p384').hash, 'sha384');
  for (const [type, options] of [
    ['ed25519', { hash: 'sha256' }],
    ['hmac-sha256', { hash: 'sha256' }],
    ['ed25519', { rsa_padding: 'pss' }],
    ['ecdsa-p256', { rsa_padding: 'pss' }],
    ['rsa-2048', { hash: 'sha1' }],
    ['rsa-2048', { hash: 'md5' }],
    ['rsa-2048', { rsa_padding: 'oaep' }],
    ['rsa-2048', { hash: 'toString' }],
  ] as const)
    assert.throws(() => signingOptions(type, options), isInvalid);
  for (const type of KEY_TYPE_NAMES.filter((name) => !keyTypesFor('sign').includes(name)))
    assert.throws(() => signingOptions(type), isInvalid);
});

test('a signature is read with either prefix, or bare in either alphabet, in one spelling', () => {
  const bytes = fromHex('fbff00');
  assert.deepEqual(parseSignature('svc:v3:+/8A'), { version: 3, bytes });
  assert.deepEqual(parseSignature('vault:v3:+/8A'), { version: 3, bytes });
  assert.deepEqual(parseSignature('+/8A'), { version: undefined, bytes });
  assert.deepEqual(parseSignature('-_8A'), { version: undefined, bytes });
  for (const text of ['', 'svc:v3:', 'svc:v3:-_8A', '+_8A', '-_8A=', 'AAF=', 'svc:v0:+/8A', 'svc:v1:+/8A ', 'v1:+/8A'])
    assert.throws(() => parseSignature(text), isInvalid, text);
});

test('an ECDSA signature is DER in its one encoding', async () => {
  const { material } = await freshMaterial('ecdsa-p256');
  const options = signingOptions('ecdsa-p256');
  const { bytes } = parseSignature(await sign(material, 1, hello, options));
  const long = Buffer.concat([Buffer.from([0x30, 0x81, bytes[1] as number]), bytes.subarray(2)]);
  const trailing = Buffer.concat([bytes, Buffer.from([0])]);
  const length = bytes[3] as number;
  const padded = Buffer.concat([Buffer.from([0x30, (bytes[1] as number) + 1, 2, length + 1, 0]), bytes.subarray(4)]);
  for (const spelling of [long, trailing, padded]) assert.equal(await verify(material, hello, spelling, options), false);
});

// RFC 8032 §7.1, tests 1 to 3 and SHA(abc).
test('Ed25519 signs the samples of RFC 8032', async () => {
  for (const [secret, message, signature] of [
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
      'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    ],
    [
      '833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42',
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
      'dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704',
    ],
  ] as const) {
    const material = openMaterial('ed25519', ed25519Secret(fromHex(secret)));
    const text = await sign(material, 1, fromHex(message), signingOptions('ed25519'));
    assert.equal(parseSignature(text).bytes.toString('hex'), signature);
  }
});
