import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { proofHolds } from './merkle.fixture.ts';
import { type LeafRow, leafBytes, leafHash, merkleProof, merkleRoot } from './merkle.ts';

const route = '22222222-2222-4222-8222-222222222222';
const base: LeafRow = {
  id: '9007199254740993',
  request_id: '3b1f8a52-7c0e-4a53-9d0e-6a1b2c3d4e5f',
  tenant_id: '11111111-1111-4111-8111-111111111111',
  route_id: route,
  matched_client_id: null,
  identification_method: null,
  method: 'POST',
  status_code: 200,
  src_ip: '203.0.113.7',
  environment: 'production',
  sandbox: false,
  ts: new Date('2026-01-01T00:00:00.123Z'),
};
const rows: LeafRow[] = [
  base,
  {
    ...base,
    id: '9007199254740994',
    request_id: '4c2f9b63-8d1f-4b64-8e1f-7b2c3d4e5f60',
    route_id: null,
    method: 'GET',
    status_code: 404,
    src_ip: '203.0.113.8',
    environment: null,
    sandbox: null,
    ts: new Date('2026-01-01T00:00:00.456Z'),
  },
  {
    ...base,
    id: '9007199254740995',
    request_id: '5d30ac74-9e20-4c75-9f20-8c3d4e5f6071',
    matched_client_id: '33333333-3333-4333-8333-333333333333',
    identification_method: 'ip',
    method: 'GET',
    status_code: 429,
    src_ip: '203.0.113.9',
    sandbox: true,
    ts: new Date('2026-01-01T00:00:01.000Z'),
  },
];
const leaf1 = '7d55022fc0e503114c1d0e99230d2483737cee4263319bc26f2ecf1e6ea4a924';
const leaf2 = '74f5999bc308fcd9fa6a69b9289c5483c5dc9e0fe8ac9a717533a5d432af1da0';
const leaf3 = '021e1183b7db92a6fbe1f4a953a7683c344bde3740ccdcbc1f35d5eed2d401f3';
const pair = '058ec796e4678bc95ba04ba85d2431b9b7f39a6aea6b8f0f0f5649e63d1c3b69';

test('the published leaves, root and proofs come out byte for byte', () => {
  const leaves = rows.map(leafHash);
  assert.deepEqual(
    rows.map((row) => leafBytes(row).length),
    [229, 177, 265],
  );
  assert.deepEqual(
    leaves.map((leaf) => leaf.toString('hex')),
    [leaf1, leaf2, leaf3],
  );
  assert.equal(merkleRoot(leaves.slice(0, 2)).toString('hex'), pair);
  assert.equal(merkleRoot(leaves).toString('hex'), 'e08bbc40e29d18df5af50aace1d5eafe9098255d134c53b67c611c9ca1707200');
  assert.deepEqual(merkleProof(leaves, 0), [
    { hash: leaf2, right: true },
    { hash: leaf3, right: true },
  ]);
  assert.deepEqual(merkleProof(leaves, 2), [{ hash: pair, right: false }]);
});

test('a change of any of the twelve fields changes the leaf, and null, empty and false are three values', () => {
  const variants: LeafRow[] = [
    base,
    ...Object.entries({
      id: '1',
      request_id: 'x',
      tenant_id: 'x',
      route_id: null,
      matched_client_id: '',
      identification_method: 'null',
      method: null,
      status_code: null,
      src_ip: '',
      environment: 'false',
      sandbox: null,
      ts: new Date(0),
    }).map(([field, value]) => ({ ...base, [field]: value })),
    { ...base, sandbox: true },
    { ...base, route_id: '' },
  ];
  assert.equal(new Set(variants.map((row) => leafHash(row).toString('hex'))).size, variants.length);
});

test('every leaf of a tree of any size has a proof that holds, and only for itself', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 70 }), fc.nat(), fc.nat(), (size, a, b) => {
      const leaves = Array.from({ length: size }, (_, i) => leafHash({ ...base, id: String(i) }));
      const root = merkleRoot(leaves);
      const index = a % size;
      const other = b % size;
      const proof = merkleProof(leaves, index);
      const leaf = leaves[index] as Buffer;
      assert.ok(proofHolds(leaf, proof, root));
      if (other !== index) assert.equal(proofHolds(leaves[other] as Buffer, proof, root), false);
      for (const [i, step] of proof.entries()) {
        assert.equal(proofHolds(leaf, proof.with(i, { ...step, right: !step.right }), root), false);
        assert.equal(proofHolds(leaf, proof.toSpliced(i, 1), root), false);
      }
    }),
  );
});

test('adding, dropping, swapping or repeating rows changes the root', () => {
  const leaves = Array.from({ length: 7 }, (_, i) => leafHash({ ...base, id: String(i) }));
  const root = merkleRoot(leaves);
  const last = leaves[6] as Buffer;
  for (const other of [leaves.slice(0, 6), [...leaves, last], leaves.toReversed(), leaves.toSpliced(2, 1), leaves.with(3, last)]) {
    assert.notDeepEqual(merkleRoot(other), root);
  }
});

test('a node cannot be presented as a leaf, and nonsense proofs fail quietly', () => {
  const leaves = rows.map(leafHash);
  const root = merkleRoot(leaves);
  assert.equal(proofHolds(leaves[0] as Buffer, [{ hash: 'zz', right: true }], root), false);
  assert.equal(
    proofHolds(
      leaves[0] as Buffer,
      [
        { hash: leaf2.toUpperCase(), right: true },
        { hash: leaf3, right: true },
      ],
      root,
    ),
    false,
  );
  assert.equal(proofHolds(Buffer.alloc(0), [], root), false);
  assert.throws(() => merkleRoot([]), RangeError);
  for (const index of [-1, 3, 0.5, Number.NaN]) assert.throws(() => merkleProof(leaves, index), RangeError);
});
