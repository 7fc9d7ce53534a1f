import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { isFresh, refresh } from './command.ts';

function stampIn(t: TestContext, name: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-stamp-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, name);
}

test('a result has a stamp only while it is complete', async (t) => {
  const stamp = stampIn(t, '.made-from');
  const seen: boolean[] = [];
  const make = (wanted: string) => refresh(stamp, wanted, async () => void seen.push(fs.existsSync(stamp)));
  assert.equal(await make('first'), true);
  assert.equal(await make('first'), false, 'nothing has changed');
  assert.equal(await make('second'), true);
  assert.deepEqual(seen, [false, false]);
  await assert.rejects(
    refresh(stamp, 'third', () => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.equal(fs.existsSync(stamp), false);
  assert.equal(isFresh(stamp, 'second'), false);
});

test('different results are made at the same time', async (t) => {
  const second = Promise.withResolvers<void>();
  await Promise.all([
    refresh(stampIn(t, '.made-from'), 'a', () => second.promise),
    refresh(stampIn(t, '.made-from'), 'b', async () => second.resolve()),
  ]);
});
