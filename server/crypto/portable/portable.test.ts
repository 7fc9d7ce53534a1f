import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import test from 'node:test';
import { DecryptFailed } from '../transit/decrypt-failed.ts';
import { fromHex, p256Secret } from '../transit/material.fixture.ts';
import { openMaterial } from '../transit/material.ts';
import { openLeaf, sealLeaf, sealWith } from './seal.ts';
import { type Datatype, fingerprint, isMarkedPortable, parsePortable, requirePortable } from './text.ts';

const tenant_id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const bundle = {
  public_key_raw: 'BGD-1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p-2eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
  key_ref: { tenant_id, app_key_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7', key_version: 1 },
};
const recipient = openMaterial('ecdh-p256', p256Secret(fromHex('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721')));
const privateKey = createPrivateKey({
  key: p256Secret(fromHex('0f56db78ca460b055c500064824bed999a25aaf48ebb519ac201537b85479813')),
  format: 'der',
  type: 'pkcs8',
});
const pair = { privateKey, publicKey: createPublicKey(privateKey) };
const iv = fromHex('a0a1a2a3a4a5a6a7a8a9aaab');
const head = (datatype: string) =>
  `kc:1:${datatype}:MGY4ZmFkNWItZDljYi00NjlmLWExNjUtNzA4Njc3Mjg5NTBlOjdjOWU2Njc5LTc0MjUtNDBkZS05NDRiLWUwN2ZjMWY5MGFlNzox:BOJm3f3BJmjbMNTKPo93SUMsQWBE8tK4wQvz1AEq7_qKv6hkBKLp_-Z9R8WH73qXp_RWuGO00Cz8aSiXOrWxyzk:oKGio6Slpqeoqaqr`;
const published = `${head('s')}:JVuPDkehk_fGO-9BHbpz1ORmrDQL1IZgsQvc2v6CP78:$`;
const pci = { tenant_id, role: 'pci' };
const open = (text: string, as: { tenant_id: string; role: string | undefined } = pci) =>
  openLeaf(recipient, requirePortable(text), as).toString();

test('the published values come out character for character and open again', () => {
  for (const [datatype, text, role, ciphertext] of [
    ['s', '4242424242424242', 'pci', 'JVuPDkehk_fGO-9BHbpz1ORmrDQL1IZgsQvc2v6CP78'],
    ['n', '1299', undefined, 'QaPdEaojHtv7Tv45N56rpgQMz6E'],
    ['b', 'true', undefined, 'BOORTRGP5krgBnVbMBX7aU-MXik'],
    ['j', 'null', undefined, 'HuSIRMikThfWIqZ4j_Y9SFsW6bc'],
  ] as [Datatype, string, string | undefined, string][]) {
    const sealed = sealWith(pair, iv, { datatype, bytes: Buffer.from(text), role, bundle });
    assert.equal(sealed, `${head(datatype)}:${ciphertext}:$`);
    assert.equal(open(sealed, { tenant_id, role }), text);
  }
  assert.equal(fingerprint(requirePortable(published)), 'sha256:b076cc67cbc4ce5323bc9a467248cb71');
  assert.deepEqual(parsePortable(published)?.key_ref, bundle.key_ref);
});

test('one changed character anywhere refuses', () => {
  const segments = published.split(':');
  for (const segment of [3, 4, 5, 6]) {
    const text = segments[segment] as string;
    for (const at of [0, Math.floor(text.length / 2), text.length - 1]) {
      const changed = [...segments];
      changed[segment] = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      assert.throws(() => open(changed.join(':')), DecryptFailed, `segment ${segment}, character ${at}`);
    }
  }
  assert.throws(() => open(published.replace('kc:1:s:', 'kc:1:n:')), DecryptFailed);
});

test('a value opens for its tenant, its role and its own header only', () => {
  for (const as of [
    { tenant_id: '0f8fad5b-d9cb-469f-a165-70867728950f', role: 'pci' },
    { tenant_id, role: 'eu' },
    { tenant_id, role: undefined },
    { tenant_id, role: '' },
    { tenant_id, role: 'pci|tenant=x' },
  ])
    assert.throws(() => open(published, as), DecryptFailed);
  const seal = (text: string, role?: string) => sealLeaf({ datatype: 's', bytes: Buffer.from(text), role, bundle });
  assert.throws(() => open(seal('x')), DecryptFailed); // a role where none was bound
  const [a, b] = [seal('a').split(':'), seal('b').split(':')];
  a[6] = b[6] as string;
  assert.throws(() => open(a.join(':'), { tenant_id, role: undefined }), DecryptFailed);
  assert.notEqual(seal('x'), seal('x'));
  assert.equal(open(seal(''), { tenant_id, role: undefined }), '');
});

test('a point that is not on the curve is refused', () => {
  const off = Buffer.from(bundle.public_key_raw, 'base64url');
  off[64] = (off[64] as number) ^ 1;
  const parts = published.split(':');
  const withPoint = (point: Buffer) => [...parts.slice(0, 4), point.toString('base64url'), ...parts.slice(5)].join(':');
  const origin = Buffer.concat([Buffer.from([4]), Buffer.alloc(64)]);
  const beyond = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 0xff)]);
  for (const point of [off, origin, beyond]) {
    assert.throws(() => open(withPoint(point)), DecryptFailed);
    const recipientPoint = { ...bundle, public_key_raw: point.toString('base64url') };
    assert.throws(() => sealLeaf({ datatype: 's', bytes: Buffer.from('x'), role: undefined, bundle: recipientPoint }), {
      type: 'validation_error',
    });
  }
  const compressed = Buffer.concat([Buffer.from([3]), Buffer.from(bundle.public_key_raw, 'base64url').subarray(1, 33)]);
  assert.equal(parsePortable(withPoint(compressed)), undefined);
  assert.equal(parsePortable(withPoint(Buffer.from([0]))), undefined);
});

test('a sealed value has one spelling', () => {
  const refOf = (text: string) => published.replace(published.split(':')[3] as string, Buffer.from(text).toString('base64url'));
  const { tenant_id: t, app_key_id: k } = bundle.key_ref;
  for (const text of [
    '',
    'kc:1:s:::::$',
    published.slice(0, -1),
    published.slice(0, -2),
    `${published} `,
    ` ${published}`,
    `${published}:$`,
    published.replace(':$', '=:$'),
    published.replace('CP78:$', 'CP79:$'), // bits that no byte holds
    published.replace('kc:1', 'KC:1'),
    published.replace('kc:1', 'kc:01'),
    published.replace('kc:1:s', 'kc:1:z'),
    published.replace('kc:1:s', 'kc:1:__proto__'),
    published.replace('kc:1:s', 'kc:2:s'),
    refOf(`${t}:${k}`),
    refOf(`${t}:${k}:0`),
    refOf(`${t}:${k}:01`),
    refOf(`${t}:${k}:1000000000`),
    refOf(`${t.toUpperCase()}:${k}:1`),
    refOf(`${t}:${k}:1:1`),
    `${published.slice(0, -2)}${'A'.repeat(120_000)}:$`,
  ])
    assert.equal(parsePortable(text), undefined, text.slice(0, 80));
  assert.throws(() => requirePortable(published.replace('kc:1', 'kc:2')), /unsupported scheme version/);
  assert.equal(isMarkedPortable(published), true);
  assert.equal(isMarkedPortable(published.slice(0, -1)), false);
});

test('only a sealing key opens, and only a well-formed role and point seal', () => {
  const leaf = { datatype: 's' as const, bytes: Buffer.from('x'), role: undefined, bundle };
  for (const role of ['', 'PCI', 'a b', 'a|b', '-a', 'x'.repeat(64)])
    assert.throws(() => sealLeaf({ ...leaf, role }), { type: 'validation_error' });
  const otherCurve = openMaterial('ecdsa-p256', p256Secret(fromHex('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721')));
  assert.throws(() => openLeaf(otherCurve, requirePortable(published), pci), { type: 'validation_error' });
});
