import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLeaf } from '#server/crypto/portable/seal.ts';
import { requirePortable } from '#server/crypto/portable/text.ts';
import { fromHex, p256Secret } from '#server/crypto/transit/material.fixture.ts';
import { openMaterial } from '#server/crypto/transit/material.ts';
import { VECTORS } from '../../sdk/elements/vectors.fixture.ts';
import { sealDocument } from './seal-document.ts';

const { bundle } = VECTORS;
const recipient = openMaterial('ecdh-p256', p256Secret(fromHex(VECTORS.scalar)));
const opened = (text: unknown, role?: string) =>
  openLeaf(recipient, requirePortable(String(text)), { tenant_id: bundle.key_ref.tenant_id, role }).toString('latin1');

test('seals the leaves that are picked and keeps the shape, as the service does', async () => {
  const data = { card: { number: '4242', holder: 'J D' }, items: [{ sku: 'a', ssn: '1' }, { sku: 'b' }], note: 'x', empty: [{}] };
  const options = { bundle, role: 'pci', selectors: ['$.card.number', '$..ssn'], exclude: [] };
  const { document, sealed } = await sealDocument(data, options);
  const made = document as typeof data;
  assert.equal(sealed, 2);
  assert.equal(opened(made.card.number, 'pci'), '4242');
  assert.equal(opened(made.items[0]?.ssn, 'pci'), '1');
  assert.deepEqual({ ...made, card: { ...made.card, number: '4242' }, items: data.items }, data);
});

test('seals every kind of leaf, raw bytes among them, and nothing twice', async () => {
  const all = { bundle, role: undefined, selectors: [], exclude: ['$.skip'] };
  const once = await sealDocument(
    { s: 'a', n: 1.5, b: true, z: null, x: { $b64: '/wA=' }, skip: { deep: 1 }, e: {}, odd: { $b64: '*' } },
    all,
  );
  const made = once.document as Record<string, unknown>;
  assert.deepEqual(
    [opened(made.s), opened(made.n), opened(made.b), opened(made.z), opened(made.x)],
    ['a', '1.5', 'true', 'null', '\xff\x00'],
  );
  assert.deepEqual([made.skip, made.e, once.sealed], [{ deep: 1 }, {}, 6]);
  const twice = await sealDocument(made, all);
  assert.deepEqual([twice.document, twice.sealed, twice.skipped], [made, 0, 6]);
  assert.equal(opened((await sealDocument('4242', all)).document), '4242');
});

test('a member named like the prototype is data', async () => {
  const { document } = await sealDocument(JSON.parse('{"__proto__":{"x":"1"}}'), { bundle, role: undefined, selectors: [], exclude: [] });
  assert.deepEqual(Object.keys(document as object), ['__proto__']);
});
