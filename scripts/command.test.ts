import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
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

test('of processes that find the lock of a dead one, one at a time goes on', async (t) => {
  const folder = path.dirname(stampIn(t, 'lock'));
  const rounds = 60;
  for (let round = 0; round < rounds; round++) fs.writeFileSync(path.join(folder, `lock-${round}`), '999999999');
  // All meet each lock in the same moment, which only makes it likelier that one is slower between its look and its hand.
  const code = `
    import fs from 'node:fs';
    import { alone } from './scripts/command.ts';
    const folder = ${JSON.stringify(folder)};
    for (let round = 0; round < ${rounds}; round++) {
      while (Date.now() < ${Date.now() + 1_000} + round * 10);
      await alone(folder + '/lock-' + round, async () => {
        fs.mkdirSync(folder + '/inside-' + round); // fails where another is
        await new Promise((resolve) => setTimeout(resolve, 2));
        fs.rmdirSync(folder + '/inside-' + round);
      });
    }`;
  const one = () =>
    new Promise<string>((resolve) => {
      execFile(process.execPath, ['--input-type=module-typescript', '-e', code], (error, _out, err) => resolve(error ? err : 'done'));
    });
  assert.deepEqual(await Promise.all([one(), one(), one(), one()]), ['done', 'done', 'done', 'done']);
  assert.deepEqual(fs.readdirSync(folder), [], 'no lock is left');
});
