import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLeaf } from '#server/crypto/portable/seal.ts';
import { requirePortable } from '#server/crypto/portable/text.ts';
import { fromHex, p256Secret } from '#server/crypto/transit/material.fixture.ts';
import { openMaterial } from '#server/crypto/transit/material.ts';
import { fromBase64url, toBase64url } from './base64url.ts';
import { SvcClient } from './client.ts';
import { type Datatype, type Sealable, type SealingBundle, SvcEncryptor, sealed } from './encryptor.ts';
import { VECTORS } from './vectors.fixture.ts';

const { bundle } = VECTORS;
const hex = (text: string) => new Uint8Array(fromHex(text));

test('seals the published values byte by byte (interface rule 41 §3.1)', async () => {
  const curve = { name: 'ECDH', namedCurve: 'P-256' } as const;
  const recipient = await crypto.subtle.importKey('raw', fromBase64url(bundle.public_key_raw), curve, false, []);
  const jwk = { kty: 'EC', crv: 'P-256', ...VECTORS.ephemeral };
  const privateKey = await crypto.subtle.importKey('jwk', jwk, curve, false, ['deriveBits']);
  const publicKey = await crypto.subtle.importKey('raw', fromBase64url(VECTORS.point), curve, true, []);
  for (const { datatype, text, role, last } of VECTORS.values) {
    const iv = hex('a0a1a2a3a4a5a6a7a8a9aaab');
    const bytes = new TextEncoder().encode(text);
    const made = await sealed({ bundle, recipient, role, datatype: datatype as Datatype, bytes, ephemeral: { privateKey, publicKey }, iv });
    assert.equal(made, `kc:1:${datatype}:${VECTORS.key_ref}:${VECTORS.point}:oKGio6Slpqeoqaqr:${last}:$`);
  }
});

test('the service opens what the library sealed, under the same role and no other', async () => {
  const recipient = openMaterial('ecdh-p256', p256Secret(fromHex(VECTORS.scalar)));
  const { tenant_id } = bundle.key_ref;
  const values: [Sealable, string][] = [
    ['grüße 🙂', 'grüße 🙂'],
    ['', ''],
    [1e21, '1e+21'],
    [-0, '0'],
    [false, 'false'],
    [{ b: [1, null], a: 'x', __proto__: null }, '{"b":[1,null],"a":"x"}'],
  ];
  for (const role of [undefined, 'pci'])
    for (const [value, text] of values) {
      const made = requirePortable(await new SvcEncryptor(bundle, role).encrypt(value));
      assert.equal(openLeaf(recipient, made, { tenant_id, role }).toString(), text);
      assert.throws(() => openLeaf(recipient, made, { tenant_id, role: role === undefined ? 'pci' : undefined }), {
        type: 'decrypt_failed',
      });
    }
});

test('names the type of each value and never seals one twice alike', async () => {
  const encryptor = new SvcEncryptor(bundle, 'pci');
  const values: [Sealable, string][] = [
    ['', 's'],
    ['4242', 's'],
    [1299, 'n'],
    [-0.5e-7, 'n'],
    [true, 'b'],
    [null, 'j'],
    [{ a: [1] }, 'j'],
    [[], 'j'],
  ];
  for (const [value, datatype] of values) {
    const [one, other] = await Promise.all([encryptor.encrypt(value), encryptor.encrypt(value)]);
    assert.match(one, new RegExp(`^kc:1:${datatype}:${VECTORS.key_ref}:[\\w-]{87}:[\\w-]{16}:[\\w-]{22,}:\\$$`));
    assert.notEqual(one.split(':')[4], other.split(':')[4], 'a fresh key pair per value');
    assert.notEqual(one.split(':')[5], other.split(':')[5], 'a fresh IV per value');
  }
  assert.match(await encryptor.encryptBytes(hex('00ff')), /^kc:1:x:/);
});

test('refuses what JSON and UTF-8 cannot say, and what the service would not open', async () => {
  const encryptor = new SvcEncryptor(bundle);
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1, Symbol('x'), 1n, '\ud800', circular])
    await assert.rejects(encryptor.encrypt(value as Sealable), TypeError, String(typeof value));
  await encryptor.encrypt('a'.repeat(64 * 1024));
  await assert.rejects(encryptor.encrypt('a'.repeat(64 * 1024 + 1)), RangeError);
});

test('refuses a bundle that is no bundle, and a role that could forge its separators', async () => {
  const point = bundle.public_key_raw;
  const bundles: unknown[] = [
    undefined,
    {},
    { ...bundle, public_key_raw: 'AA' },
    { ...bundle, public_key_raw: `${point}=` },
    { ...bundle, public_key_raw: `A${point.slice(1)}` },
    { ...bundle, key_ref: { ...bundle.key_ref, tenant_id: bundle.key_ref.tenant_id.toUpperCase() } },
    { ...bundle, key_ref: { ...bundle.key_ref, app_key_id: 'x' } },
    { ...bundle, key_ref: { ...bundle.key_ref, key_version: 0 } },
    { ...bundle, key_ref: { ...bundle.key_ref, key_version: 1.5 } },
    { ...bundle, key_ref: { ...bundle.key_ref, key_version: '1' } },
  ];
  for (const given of bundles) assert.throws(() => new SvcEncryptor(given as SealingBundle), TypeError, JSON.stringify(given));
  for (const role of ['', 'PCI', '-pci', 'a|role=b', 'a=b', 'a:b', 'a'.repeat(64)])
    assert.throws(() => new SvcEncryptor(bundle, role), TypeError, role);
  const offCurve = fromBase64url(point);
  offCurve[64] = (offCurve[64] as number) ^ 1;
  await assert.rejects(new SvcEncryptor({ ...bundle, public_key_raw: toBase64url(offCurve) }).encrypt('x'), TypeError);
});

test('spends client tokens only, and sends nothing else anywhere', async () => {
  const sent: { url: string; init: RequestInit }[] = [];
  const answers: Response[] = [];
  const fetch = async (url: unknown, init?: RequestInit) => {
    sent.push({ url: String(url), init: init ?? {} });
    return answers.shift() as Response;
  };
  const client = new SvcClient({ baseUrl: 'https://api.example.com/elements/v1/seal.js', fetch: fetch as typeof globalThis.fetch });
  const token = 'kct_EBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8';
  for (const wrong of ['tk_live_abc', 'svc_live_abc', ` ${token}`, `${token}\n`, `${token}x`, 'kct_', '', undefined])
    for (const spend of [client.reveal, client.detokenize])
      await assert.rejects(spend.call(client, wrong as string, 'kc:1:s:a:b:c:d:$'), { type: 'invalid_client_token' });
  assert.equal(sent.length, 0, 'no request left');

  answers.push(Response.json({ data: { plaintext: { a: 1 } } }), Response.json({ data: { value: '4242' } }));
  assert.deepEqual(await client.reveal(token, 'kc:x:$'), { a: 1 });
  assert.equal(await client.detokenize(token, 'tok_1'), '4242');
  assert.deepEqual(
    sent.map(({ url }) => url),
    ['https://api.example.com/v1/client/decrypt', 'https://api.example.com/v1/client/detokenize'],
  );
  for (const { init } of sent) {
    assert.equal(init.credentials, 'omit');
    assert.equal(init.redirect, 'error');
    assert.equal((init.headers as Record<string, string>).authorization, `Bearer ${token}`);
  }

  const error = { type: 'client_token_used', message: 'Used.', request_id: 'r1' };
  answers.push(Response.json({ error }, { status: 401 }), new Response('<html>', { status: 502 }));
  await assert.rejects(client.reveal(token, 'x'), { name: 'SvcError', status: 401, ...error });
  await assert.rejects(client.reveal(token, 'x'), { type: 'unexpected_answer', status: 502 });
});
