import assert from 'node:assert/strict';
import test from 'node:test';
import { isRefused, scan } from './scan.ts';

const MIB = 1024 * 1024;

for (const [name, contentType, text, reading] of [
  [
    'a placeholder in each of hundreds of thousands of strings',
    'application/json',
    `[${'"{{ token: a }}",'.repeat(600_000)}""]`,
    'refused',
  ],
  ['nothing but braces', 'text/plain', '{'.repeat(10 * MIB), 'nothing'],
  ['nothing but opening brackets', 'application/json', '['.repeat(10 * MIB), 'refused'],
  ['objects in each other', 'application/json', `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`, 'refused'],
  ['millions of arrays', 'application/json', `[${'[],'.repeat(3_000_000)}[]]`, 'nothing'],
  ['millions of members', 'application/json', `[${'{"":0},'.repeat(1_300_000)}{}]`, 'nothing'],
  ['a string of nothing but braces', 'application/json', `"${'{'.repeat(10 * MIB)}"`, 'nothing'],
] as const)
  test(`the largest body doesn't hold the process, with ${name}`, () => {
    const body = Buffer.from(text);
    const began = process.cpuUsage().user;
    const scanned = scan({ query: null, body, contentType, encoded: false, headers: [] });
    const milliseconds = (process.cpuUsage().user - began) / 1000;
    assert.equal(isRefused(scanned) ? 'refused' : 'nothing', reading);
    assert.ok(milliseconds < 400, `took ${Math.round(milliseconds)} ms`);
  });

test('JSON nested 200 levels deep is read, and one level more is refused', () => {
  const nested = (levels: number) =>
    scan({
      query: null,
      body: Buffer.from(`${'['.repeat(levels)}"{{ token: a }}"${']'.repeat(levels)}`),
      contentType: 'application/json',
      encoded: false,
      headers: [],
    });
  const read = nested(200);
  assert.ok(read !== null && !isRefused(read) && read.expressions.length === 1);
  const refused = nested(201);
  assert.ok(isRefused(refused) && refused.code === 'validation_error');
});
