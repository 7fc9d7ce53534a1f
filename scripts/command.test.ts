import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { isFresh, refresh, run } from './command.ts';

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
  const [folder, meeting] = [path.dirname(stampIn(t, 'lock')), path.dirname(stampIn(t, 'meeting'))];
  const rounds = 60;
  for (let round = 0; round < rounds; round++) {
    fs.writeFileSync(path.join(folder, `lock-${round}`), '999999999');
    fs.mkdirSync(path.join(meeting, String(round)));
  }
  // All come to each lock together, which makes it likelier that one is slower between its look and its hand.
  const code = `
    import fs from 'node:fs';
    import { alone } from './scripts/command.ts';
    const [folder, meeting] = ${JSON.stringify([folder, meeting])};
    for (let round = 0; round < ${rounds}; round++) {
      fs.writeFileSync(meeting + '/' + round + '/' + process.pid, '');
      while (fs.readdirSync(meeting + '/' + round).length < 4);
      await alone(folder + '/lock-' + round, async () => {
        const inside = folder + '/inside-' + round;
        if (fs.existsSync(inside)) console.log('two at once');
        fs.writeFileSync(inside, '');
        await new Promise(setImmediate);
        fs.rmSync(inside, { force: true });
      });
    }`;
  const one = () => run(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '-e', code]);
  assert.deepEqual(await Promise.all([one(), one(), one(), one()]), Array(4).fill({ code: 0, output: '' }));
  assert.deepEqual(fs.readdirSync(folder), [], 'no lock is left');
});
