import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type ChainEntry, type ChainRow, canonicalRow, rowHash, verifyChain, zeroHash } from './chain.ts';

const tenant = '11111111-2222-4333-8444-555555555555';
const first: ChainEntry = {
  chain_id: tenant,
  sequence_number: 1n,
  prev_hash: zeroHash,
  at: new Date('2026-05-25T10:00:00.000Z'),
  tenant_id: tenant,
  actor_id: '99999999-0000-4000-8000-000000000001',
  action: 'byok.kms.onboard',
  resource_type: 'tenant_kms_config',
  resource_id: tenant,
  details: { provider: 'aws', new_key_version: 2, kms_key_ref: 'arn:aws:kms:us-east-1:111122223333:key/abcd-1234' },
};
const second: ChainEntry = {
  ...first,
  sequence_number: 2n,
  prev_hash: rowHash(first),
  at: new Date('2026-05-25T10:05:00.000Z'),
  actor_id: null,
  action: 'migration.item.expire',
  resource_type: 'secret_migration_item',
  resource_id: '22222222-3333-4444-8555-666666666666',
  details: {},
};

test('the published chain rows give the published bytes and hashes', () => {
  assert.equal(
    canonicalRow(first).toString('hex'),
    '535643434841494e310000002431313131313131312d323232322d343333332d383434342d35353535353535353535353500000008000000000000000100000020000000000000000000000000000000000000000000000000000000000000000000000018323032362d30352d32355431303a30303a30302e3030305a0000002431313131313131312d323232322d343333332d383434342d3535353535353535353535350000002439393939393939392d303030302d343030302d383030302d3030303030303030303030310000001062796f6b2e6b6d732e6f6e626f6172640000001174656e616e745f6b6d735f636f6e6669670000002431313131313131312d323232322d343333332d383434342d353535353535353535353535000000677b226b6d735f6b65795f726566223a2261726e3a6177733a6b6d733a75732d656173742d313a3131313132323232333333333a6b65792f616263642d31323334222c226e65775f6b65795f76657273696f6e223a322c2270726f7669646572223a22617773227d',
  );
  assert.equal(canonicalRow(first).length, 393);
  assert.equal(canonicalRow(second).length, 265);
  assert.equal(rowHash(first).toString('hex'), '28edde7498978bdbb39eb69894f2876b48f7ce0c953fd8d3ab852c2f3f3dfccf');
  assert.equal(rowHash(second).toString('hex'), '10af01bcc3d88ff6cf09022dc38725d1feedb61f3435657c70e1c1038fda3edf');
});

/** A valid chain of `length` rows. */
function chain(length: number): ChainRow[] {
  const rows: ChainRow[] = [];
  for (let i = 1; i <= length; i++) {
    const entry = { ...first, sequence_number: BigInt(i), prev_hash: rows.at(-1)?.row_hash ?? zeroHash, details: { number: i } };
    rows.push({ ...entry, row_hash: rowHash(entry) });
  }
  return rows;
}

test('a whole chain, an empty one and a range with a trusted start are valid', async () => {
  const rows = chain(100);
  const head = Buffer.from(rows[99]?.row_hash ?? zeroHash).toString('hex');
  assert.deepEqual(await verifyChain(rows), { valid: true, checked: 100, first: '1', last: '100', head_hash: head, failure: null });
  assert.deepEqual(await verifyChain([]), { valid: true, checked: 0, first: null, last: null, head_hash: null, failure: null });
  const range = await verifyChain(rows.slice(50), rows[49]);
  assert.deepEqual([range.valid, range.checked, range.first, range.last], [true, 50, '51', '100']);
  const stream = (async function* () {
    yield* rows;
  })();
  assert.equal((await verifyChain(stream)).checked, 100);
});

test('altering any field of any row is reported with its number', async () => {
  const changes: Partial<ChainRow>[] = [
    { at: new Date('2026-05-25T10:00:00.001Z') },
    { tenant_id: null },
    { actor_id: null },
    { action: 'byok.kms.onboare' },
    { resource_type: 'x' },
    { resource_id: null },
    { resource_id: '' },
    { details: { number: '4' } },
    { details: { number: 4.5 } },
    { details: {} },
    { row_hash: zeroHash },
    { row_hash: new Uint8Array(31) },
    { chain_id: 'operator' },
  ];
  for (const change of changes) {
    const rows = chain(8);
    rows[3] = { ...(rows[3] as ChainRow), ...change };
    const verdict = await verifyChain(rows);
    assert.deepEqual(verdict.failure, { sequence_number: '4', kind: 'hash_mismatch' }, JSON.stringify(Object.keys(change)));
    assert.equal(verdict.valid, false);
    assert.equal(verdict.checked, 3);
  }
});

test('a deleted, repeated, swapped or re-hashed row is reported', async () => {
  const rows = chain(8);
  assert.deepEqual((await verifyChain(rows.toSpliced(3, 1))).failure, { sequence_number: '5', kind: 'gap' });
  assert.deepEqual((await verifyChain(rows.slice(1))).failure, { sequence_number: '2', kind: 'gap' });
  assert.deepEqual((await verifyChain(rows.toSpliced(3, 0, rows[3] as ChainRow))).failure, { sequence_number: '4', kind: 'gap' });
  assert.deepEqual((await verifyChain([rows[1], rows[0]] as ChainRow[])).failure, { sequence_number: '2', kind: 'gap' });
  // Someone who changes a row and its own hash breaks the link of the next one.
  const forged = { ...(rows[3] as ChainRow), details: { number: 99 } };
  rows[3] = { ...forged, row_hash: rowHash(forged) };
  assert.deepEqual((await verifyChain(rows)).failure, { sequence_number: '5', kind: 'prev_mismatch' });
});

test('no two different rows have the same canonical bytes', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('', 'a', 'ab', '\u0000'));
  const fields = fc.record({ action: text, resource_type: text, resource_id: fc.option(text), actor_id: fc.option(text) });
  fc.assert(
    fc.property(fields, fields, (a, b) => {
      const same = JSON.stringify(Object.values(a)) === JSON.stringify(Object.values(b));
      assert.equal(canonicalRow({ ...first, ...a }).equals(canonicalRow({ ...first, ...b })), same);
    }),
  );
});

test('details with a fraction or a number beyond 2^53 are refused before they are written', () => {
  assert.throws(() => rowHash({ ...first, details: { ratio: 0.1 } }), TypeError);
  assert.throws(() => rowHash({ ...first, details: { id: 2 ** 60 } }), TypeError);
});
