import assert from 'node:assert/strict';
import test from 'node:test';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { deniedOf } from './denying.ts';
import type { Pattern } from './denylist.shared.ts';

const entry = (name: string, tags: Record<string, string> = {}) => ({ name, ref: `mount/${name}`, tags });
const denied = (patterns: readonly Pattern[], names: readonly string[]) =>
  deniedOf(
    patterns,
    names.map((name) => entry(name, { team: name })),
    { owner: 'one' },
  );

test('a pattern of each kind denies what it names, and one that can not be read is told by its place', async () => {
  assert.deepEqual(await denied([{ pattern: 'rds!*', kind: 'glob' }], ['rds!main', 'main']), [true, false]);
  assert.deepEqual(await denied([{ pattern: '^db-[0-9]+$', kind: 'regex' }], ['db-12', 'db-x']), [true, false]);
  assert.deepEqual(await denied([{ pattern: 'team=ops*', kind: 'tag' }], ['ops-1', 'dev']), [true, false]);
  assert.deepEqual(await denied([{ pattern: 'mount/*', kind: 'glob' }], ['any']), [true]);
  const plain: Pattern = { pattern: 'a*', kind: 'glob' };
  for (const [pattern, message] of [
    [{ pattern: '(?=a)', kind: 'regex' }, /patterns\.1\.pattern.*look-around/],
    [{ pattern: 'team', kind: 'tag' }, /patterns\.1\.pattern.*key=value/],
  ] as const)
    await assert.rejects(denied([plain, pattern], []), (error: Error & { type?: string }) => {
      assert.equal(error.type, 'validation_error');
      return message.test(`${JSON.stringify(error)} ${error.message}`);
    });
});

test('200 hostile patterns over thousands of names keep nobody else waiting', async () => {
  const patterns = Array.from({ length: 200 }, (_, i): Pattern => ({ pattern: `(?:x+x+)+[a-z]${i}$`, kind: 'regex' }));
  const names = Array.from({ length: 3_000 }, (_, i) => `${'x'.repeat(400)}${i}`);
  await neverBlocks(async () => {
    await denied(patterns, names).catch((error: Error & { type?: string }) => assert.equal(error.type, 'validation_error', error.message));
  });
});
