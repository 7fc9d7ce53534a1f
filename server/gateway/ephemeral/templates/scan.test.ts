import assert from 'node:assert/strict';
import test from 'node:test';
import { atOnce } from '#server/kernel/slices.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { isRefused, scan } from './scan.ts';

const MIB = 1024 * 1024;

const repeated = (before: string, piece: string, behind: string) => (size: number) => before + piece.repeat(size / piece.length) + behind;

for (const [name, contentType, textOf, reading] of [
  ['a placeholder in each of hundreds of thousands of strings', 'application/json', repeated('[', '"{{ token: a }}",', '""]'), 'refused'],
  ['nothing but braces', 'text/plain', repeated('', '{', ''), 'nothing'],
  ['nothing but opening brackets', 'application/json', repeated('', '[', ''), 'refused'],
  ['objects in each other', 'application/json', (size: number) => `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`, 'refused'],
  ['millions of arrays', 'application/json', repeated('[', '[],', '[]]'), 'nothing'],
  ['millions of members', 'application/json', repeated('[', '{"":0},', '{}]'), 'nothing'],
  ['a string of nothing but braces', 'application/json', repeated('"', '{', '"'), 'nothing'],
] as const)
  test(`the largest body is scanned in linear time, with ${name}`, async () => {
    const scanned = (body: Buffer) => atOnce(scan({ query: null, body, contentType, encoded: false, headers: [] }));
    assert.equal(isRefused(scanned(Buffer.from(textOf(10 * MIB)))) ? 'refused' : 'nothing', reading);
    await assertGrowsLinearly(name, MIB / 2, (size) => Buffer.from(textOf(size)), scanned);
  });

test('JSON nested 200 levels deep is read, and one level more is refused', () => {
  const nested = (levels: number) =>
    atOnce(
      scan({
        query: null,
        body: Buffer.from(`${'['.repeat(levels)}"{{ token: a }}"${']'.repeat(levels)}`),
        contentType: 'application/json',
        encoded: false,
        headers: [],
      }),
    );
  const read = nested(200);
  assert.ok(read !== null && !isRefused(read) && read.expressions.length === 1);
  const refused = nested(201);
  assert.ok(isRefused(refused) && refused.code === 'validation_error');
});
