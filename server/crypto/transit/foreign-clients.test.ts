import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { CompactSign, createLocalJWKSet, importSPKI, jwtVerify, SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import { KEY_TYPES, type KeyType, keyTypesFor } from '#server/kernel/key-types.ts';
import { parseCompactJws } from '../compact-jws.ts';
import { openLeaf, sealLeaf } from '../portable/seal.ts';
import { keyRefText, requirePortable } from '../portable/text.ts';
import { decrypt, encrypt, parseCipherText } from './cipher-text.ts';
import { JWT_SIGNING, type JwtKey, signJwt, verifyJwt } from './jwt.ts';
import { kidOf } from './key-ids.ts';
import { freshMaterial, materialOf, run } from './material.fixture.ts';
import { type Material, openMaterial } from './material.ts';
import { newMaterial } from './new-material.ts';
import { publicKey, rawPoint } from './public-keys.ts';
import { parseSignature, type SigningOptions, sign, signBytes, signingOptions, verify, verifyWith } from './signatures.ts';

// What we sign and encrypt is judged by programs of other authors, and what they make is judged by us. A program that isn't on the machine skips its tests.

const key_id = '5b1c7d2e-8f40-4c1a-9a55-0d2f3c4b5a61';
const named = { key_id, version: 1 };
const data = Buffer.from('What is signed, in bytes: \u{1f511}');
const now = new Date();
const keyOf = (material: Material): JwtKey => ({
  id: key_id,
  type: material.type,
  versions: [{ version: 1, state: 'usable' }],
  material: () => material,
});

/** Every way to sign with an asymmetric key. */
const variants: { type: KeyType; options: SigningOptions }[] = keyTypesFor('public-key').flatMap((type) => {
  const { uses, hashes, paddings } = KEY_TYPES[type];
  if (!uses.includes('sign')) return [];
  return (hashes.length ? hashes : [undefined]).flatMap((hash) =>
    (paddings.length ? paddings : [undefined]).map((rsa_padding) => ({ type, options: signingOptions(type, { hash, rsa_padding }) })),
  );
});

test('jose verifies every token we sign: from the JWK set, and with the PEM where the set names another algorithm', async () => {
  for (const type of keyTypesFor('jwt')) {
    const { material, spki } = await freshMaterial(type);
    for (const [index, alg] of KEY_TYPES[type].jwt.entries()) {
      const overrides = index === 0 ? undefined : { alg };
      const { token } = await signJwt(
        material,
        named,
        { claims: { sub: 'user_1', aud: ['a'] }, header_overrides: overrides, ttl_seconds: 60 },
        now,
      );
      const expected = { algorithms: [alg], audience: 'a', subject: 'user_1' };
      if (!spki) await jwtVerify(token, material.key, expected);
      else if (index === 0) await jwtVerify(token, createLocalJWKSet({ keys: [publicKey(type, spki, named).jwk] }), expected);
      else await jwtVerify(token, await importSPKI(publicKey(type, spki, named).pem, alg), expected);
    }
  }
});

test('we verify every token jose signs', async () => {
  for (const type of keyTypesFor('jwt')) {
    const { material } = await freshMaterial(type);
    for (const alg of KEY_TYPES[type].jwt) {
      const header = { alg, kid: kidOf(key_id, 1) };
      const token = await new SignJWT({ sub: 'x' }).setProtectedHeader(header).setExpirationTime('1m').sign(material.key);
      const verdict = await verifyJwt(keyOf(material), token, { sub: 'x' }, now);
      assert.equal(verdict.valid && verdict.alg, alg);
      const critical = await new CompactSign(Buffer.from('{}'))
        .setProtectedHeader({ ...header, b64: true, crit: ['b64'] })
        .sign(material.key);
      assert.deepEqual(await verifyJwt(keyOf(material), critical, {}, now), { valid: false, error: 'malformed' });
    }
  }
});

test('standardwebhooks accepts a signature of ours and we accept one of its', async () => {
  const bytes = run(0, 32);
  const material = materialOf('hmac-sha256', bytes);
  const hook = new Webhook(bytes.toString('base64'));
  const payload = '{"type":"key.rotated"}';
  const id = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W';
  const seconds = Math.floor(now.getTime() / 1000);
  const signed = Buffer.from(`${id}.${seconds}.${payload}`);
  const ours = (await sign(material, 1, signed, signingOptions('hmac-sha256'))).split(':')[2];
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${ours}` };
  assert.deepEqual(hook.verify(payload, headers), JSON.parse(payload));
  assert.throws(() => hook.verify(`${payload} `, headers));
  const theirs = hook.sign(id, now, payload).slice('v1,'.length);
  assert.equal(await verify(material, signed, parseSignature(theirs).bytes, signingOptions('hmac-sha256')), true);
});

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'foreign-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

function answers(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const noOpenssl = !answers('openssl', ['version']) && 'the openssl command is not installed';
const file = (name: string, content: string | Uint8Array) => {
  fs.writeFileSync(path.join(folder, name), content);
  return path.join(folder, name);
};
const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] });

/** The arguments of `openssl pkeyutl` that sign as we do. */
const opensslOptions = ({ type, options }: (typeof variants)[number]): string[] => [
  '-rawin',
  ...(type === 'ed25519' ? [] : ['-digest', options.hash]),
  ...(options.padding === 'pss' ? ['-pkeyopt', 'rsa_padding_mode:pss', '-pkeyopt', 'rsa_pss_saltlen:digest'] : []),
];

test('openssl verifies what we sign, and we verify what it signs, of every type, hash and padding', { skip: noOpenssl }, async () => {
  const message = file('message', data);
  for (const variant of variants) {
    const { material, spki } = await freshMaterial(variant.type);
    const pem = file('public.pem', publicKey(variant.type, spki as Buffer, named).pem);
    const { bytes } = parseSignature(await sign(material, 1, data, variant.options));
    const check = ['pkeyutl', '-verify', '-pubin', '-inkey', pem, '-in', message, '-sigfile', file('signature', bytes)];
    openssl(...check, ...opensslOptions(variant));

    const secret = file('private.pem', material.key.export({ format: 'pem', type: 'pkcs8' }));
    const theirs = openssl('pkeyutl', '-sign', '-inkey', secret, '-in', message, ...opensslOptions(variant));
    assert.equal(await verify(material, data, theirs, variant.options), true, JSON.stringify(variant));
  }
});

test('openssl finds nothing wrong with the keys we make, and computes the same MACs', { skip: noOpenssl }, async () => {
  for (const type of keyTypesFor('public-key')) {
    const { secret } = await newMaterialOnce(type);
    openssl('pkey', '-inform', 'DER', '-in', file('key.der', secret), '-check', '-noout');
  }
  for (const [type, length] of [
    ['hmac-sha256', 32],
    ['hmac-sha512', 64],
  ] as const) {
    const key = run(7, length);
    const theirs = openssl(
      'dgst',
      `-${type.slice(5)}`,
      '-mac',
      'HMAC',
      '-macopt',
      `hexkey:${key.toString('hex')}`,
      '-binary',
      file('message', data),
    );
    const { bytes } = parseSignature(await sign(materialOf(type, key), 1, data, signingOptions(type)));
    assert.deepEqual(bytes, theirs);
  }
});

/** The private half of the key that other tests of this process use. */
async function newMaterialOnce(type: KeyType): Promise<{ secret: Buffer }> {
  const { material } = await freshMaterial(type);
  return { secret: material.key.export({ format: 'der', type: 'pkcs8' }) };
}

const python = answers('python3', ['-c', 'import cryptography']);
const noPython = !python && "python3 with the package 'cryptography' is not installed";

test("Python's cryptography verifies, opens and makes the same as we do", { skip: noPython }, async () => {
  const b64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const tenant = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const key = run(3, 32);
  const aes = materialOf('aes256-gcm', key);
  const aad = Buffer.from('row:42');
  const recipient = await newMaterial('ecdh-p256');
  const secret = Buffer.from(recipient.secret);
  const opener = openMaterial('ecdh-p256', recipient.secret);
  const key_ref = { tenant_id: tenant, app_key_id: key_id, key_version: 1 };
  const point = rawPoint(recipient.spki as Buffer).toString('base64url');
  const sealed = sealLeaf({ datatype: 's', bytes: data, role: 'pci', bundle: { public_key_raw: point, key_ref } });

  const signatures = await Promise.all(
    variants.map(async ({ type, options }) => {
      const { material, spki } = await freshMaterial(type);
      const item = { type, hash: type === 'ed25519' ? null : options.hash, padding: options.padding ?? null, data: b64(data) };
      const signature = b64(parseSignature(await sign(material, 1, data, options)).bytes);
      return { item, signature, pem: publicKey(type, spki as Buffer, named).pem };
    }),
  );
  const tasks = [
    ...signatures.map(({ item, ...rest }) => ({ task: 'verify', ...item, ...rest })),
    ...signatures.map(({ item, ...rest }) => ({ task: 'verify', ...item, ...rest, data: b64(Buffer.from('other')) })),
    // RSA keys of one size suffice: making them takes most of the time.
    ...signatures.filter(({ item }) => !['rsa-3072', 'rsa-4096'].includes(item.type)).map(({ item }) => ({ task: 'sign', ...item })),
    { task: 'mac', key: b64(key), hash: 'sha256', data: b64(data) },
    { task: 'decrypt', key: b64(key), aad: b64(aad), ciphertext: encrypt(aes, 1, data, aad) },
    { task: 'encrypt', key: b64(key), aad: b64(aad), plaintext: b64(data) },
    { task: 'open', text: sealed, secret: b64(secret), tenant, role: 'pci' },
    { task: 'seal', point, key_ref: keyRefText(key_ref), tenant, role: 'pci', plaintext: b64(data) },
  ];
  const script = path.join(import.meta.dirname, 'foreign-client.fixture.py');
  const results = JSON.parse(execFileSync('python3', [script], { input: JSON.stringify(tasks), encoding: 'utf8', maxBuffer: 1e7 }));
  for (const [index, task] of tasks.entries()) {
    const result = results[index];
    switch (task.task) {
      case 'verify':
        assert.equal(result, index < signatures.length, JSON.stringify(task));
        break;
      case 'sign': {
        const variant = signatures.find(
          ({ item }) => 'type' in task && item.type === task.type && item.hash === task.hash && item.padding === task.padding,
        );
        const type = variant?.item.type as KeyType;
        const options = signingOptions(type, { hash: variant?.item.hash ?? undefined, rsa_padding: variant?.item.padding ?? undefined });
        assert.equal(
          await verify(openMaterial(type, Buffer.from(result.secret, 'base64')), data, Buffer.from(result.signature, 'base64'), options),
          true,
        );
        break;
      }
      case 'mac':
        assert.equal(
          result,
          parseSignature(await sign(materialOf('hmac-sha256', key), 1, data, signingOptions('hmac-sha256'))).bytes.toString('base64'),
        );
        break;
      case 'encrypt':
        assert.deepEqual(decrypt(aes, parseCipherText(result), aad), data);
        break;
      case 'seal':
        assert.deepEqual(openLeaf(opener, requirePortable(result), { tenant_id: tenant, role: 'pci' }), data);
        break;
      default:
        assert.equal(result, b64(data), task.task);
    }
  }
});

// RFC 7520 §4 and RFC 8037 appendix A: keys and tokens as printed.

test('the tokens of RFC 7520 and RFC 8037 that our types can make verify, and Ed25519 comes out byte for byte', async () => {
  // RFC 8037 A.1 to A.4
  const edJwk: JsonWebKey = {
    kty: 'OKP',
    crv: 'Ed25519',
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  };
  const edToken =
    'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg';
  const material = openMaterial('ed25519', createPrivateKey({ key: edJwk, format: 'jwk' }).export({ format: 'der', type: 'pkcs8' }));
  const signed = Buffer.from(edToken.slice(0, edToken.lastIndexOf('.')));
  assert.equal((await signBytes(material, signed, JWT_SIGNING.EdDSA)).toString('base64url'), edToken.split('.')[2]);

  // RFC 7520 §4.4: HS256 with the key of figure 5.
  const payload =
    'SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4';
  const hmac = materialOf('hmac-sha256', Buffer.from('hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg', 'base64url'));
  const input = `eyJhbGciOiJIUzI1NiIsImtpZCI6IjAxOGMwYWU1LTRkOWItNDcxYi1iZmQ2LWVlZjMxNGJjNzAzNyJ9.${payload}`;
  const mac = await signBytes(hmac, Buffer.from(input), JWT_SIGNING.HS256);
  assert.equal(mac.toString('base64url'), 's0h6KThzkfBBBkLspW1h84VsJZFTsPPqMDA7g1Md7p0');

  // RFC 7520 §4.1: RS256 with the key of figure 3.
  const rsa: JsonWebKey = {
    kty: 'RSA',
    n: 'n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw',
    e: 'AQAB',
  };
  const rsaToken = `eyJhbGciOiJSUzI1NiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.${payload}.MRjdkly7_-oTPTS3AXP41iQIGKa80A0ZmTuV5MEaHoxnW2e5CZ5NlKtainoFmKZopdHM1O2U4mwzJdQx996ivp83xuglII7PNDi84wnB-BDkoBwA78185hX-Es4JIwmDLJK3lfWRa-XtL0RnltuYv746iYTh_qHRD68BNt1uSNCrUCTJDt5aAE6x8wW1Kt9eRo4QPocSadnHXFxnt8Is9UzpERV0ePPQdLuW3IS_de3xyIrDaLGdjluPxUAhb6L2aXic1U12podGU0KLUQSE_oI-ZnmKJ3F4uOZDnd6QZWJushZ41Axf_fcIe8u9ipH84ogoree7vjbU5y18kDquDg`;
  const jws = parseCompactJws(rsaToken);
  assert.ok(jws);
  const key = createPublicKey({ key: rsa, format: 'jwk' });
  assert.equal(await verifyWith('rsa-2048', key, jws.signed, jws.signature, JWT_SIGNING.RS256), true);
  assert.equal(await verifyWith('rsa-2048', key, jws.signed, jws.signature, JWT_SIGNING.PS256), false);
});
