import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { days, newChain } from './authority.fixture.ts';
import { newSerial } from './authority.ts';
import { certificateRevocationList, MOST_ENTRIES, REASONS, type Reason, type RevokedEntry } from './crl.ts';
import { bitsOf, elements, inside, only, TAG } from './der.ts';

const { root } = newChain({ common_name: 'Lists' });
const list = (entries: readonly RevokedEntry[]) =>
  certificateRevocationList({ issuer: root, number: 2n ** 70n, thisUpdate: days(0), nextUpdate: days(7), entries });

test('every reason has its number, and none is left out', () => {
  const reasons = Object.keys(REASONS) as Reason[];
  const [tbs, , signature] = inside(
    only(list(reasons.map((reason) => ({ serial: newSerial(), revokedAt: days(-1), reason })))),
    TAG.sequence,
  );
  const revoked = inside(tbs, TAG.sequence)[5];
  const numbers = inside(revoked, TAG.sequence).map((entry) => inside(entry, TAG.sequence)[2]?.content.at(-1) ?? 0);
  assert.deepEqual(numbers, Object.values(REASONS));
  const key = createPublicKey({ key: root.publicKey, format: 'der', type: 'spki' });
  assert.ok(verify('sha256', tbs?.der ?? Buffer.of(), key, bitsOf(signature)));
});

test('an empty list has no list of entries', () => {
  const [tbs] = inside(only(list([])), TAG.sequence);
  assert.deepEqual(
    elements(tbs?.content ?? Buffer.of()).map(({ tag }) => tag),
    [0x02, 0x30, 0x30, 0x17, 0x17, 0xa0],
  );
});

test('a list of the most certificates is made in linear time and 256 MB, and one more is refused', async () => {
  const revoked = (length: number) =>
    Array.from({ length }, () => ({ serial: newSerial(), revokedAt: days(-1), reason: 'key_compromise' as const }));
  const entries = revoked(MOST_ENTRIES);
  const before = process.memoryUsage();
  const der = list(entries);
  const after = process.memoryUsage();
  const grown = (after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20;
  assert.ok(grown < 256, `took ${grown} MB`);
  assert.ok(der.length < 6 * 2 ** 20, `is ${der.length} bytes long`);
  assert.throws(() => list([...entries, ...entries.slice(0, 1)]), RangeError);
  await assertGrowsLinearly('entries', 5_000, revoked, list);
});
