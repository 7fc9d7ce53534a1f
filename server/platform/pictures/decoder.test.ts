import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import test, { mock } from 'node:test';
import sharp from 'sharp';
import { squareOf } from './decoder.ts';

const children: ChildProcess[] = [];
subscribe('child_process', (message) => children.push((message as { process: ChildProcess }).process));
const newest = (): ChildProcess => {
  const child = children.at(-1);
  assert.ok(child);
  return child;
};
const inColour = (background: string) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background } })
    .png()
    .toBuffer();
const picture = await inColour('teal');

test('a decoder that dies over a picture takes nothing with it: that one is refused, the next gets another decoder', async () => {
  assert.ok('webp' in (await squareOf(picture, 'ada')));
  const refused = squareOf(picture, 'ada');
  await Promise.resolve();
  newest().kill('SIGKILL');
  assert.deepEqual(await refused, { fault: 'damaged' });
  assert.ok('webp' in (await squareOf(picture, 'ada')));
  assert.equal(children.length, 2);
});

test('the decoder is given no key and no setting', { skip: process.platform !== 'linux' }, async () => {
  process.env.MASTER_KEY_B64 = 'a key that is nobody’s';
  newest().kill();
  await new Promise((resolve) => newest().once('exit', resolve));
  assert.ok('webp' in (await squareOf(picture, 'ada')));
  const given = fs.readFileSync(`/proc/${newest().pid}/environ`, 'utf8').split('\0').filter(Boolean);
  assert.deepEqual(
    given.map((one) => one.split('=')[0]).filter((name) => !name?.startsWith('NODE_')),
    [],
  );
});

test('the last word of a decoder that was given up is not taken for the next person’s picture', async () => {
  const red = await inColour('red');
  assert.ok('webp' in (await squareOf(picture, 'ada')));
  mock.timers.enable({ apis: ['setTimeout'] });
  const slow = squareOf(picture, 'ada');
  await new Promise(setImmediate);
  // It answers meanwhile, and nobody listens; then its time is over.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  mock.timers.tick(10_000);
  assert.deepEqual(await slow, { fault: 'slow' });
  mock.timers.reset();
  const answer = await squareOf(red, 'ben');
  assert.ok('webp' in answer);
  const [r, , b] = await sharp(answer.webp).raw().toBuffer();
  assert.ok(Number(r) > 200 && Number(b) < 60, `red, not ${r} and ${b}`);
});

test('what a decoder says that was taken over is not believed: nothing but a small WebP is anybody’s picture', async () => {
  assert.ok('webp' in (await squareOf(picture, 'ada')));
  newest().kill('SIGSTOP');
  const large = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.alloc(1_000_000)]);
  for (const lie of [null, 'x', { webp: Buffer.from('<script>') }, { webp: 'RIFF....WEBP' }, { webp: large }, { fault: 'you' }]) {
    const answer = squareOf(picture, 'ada');
    await new Promise(setImmediate);
    newest().emit('message', lie);
    assert.deepEqual(await answer, { fault: 'damaged' }, JSON.stringify(lie).slice(0, 40));
  }
  newest().kill('SIGKILL');
  await new Promise((resolve) => newest().once('exit', resolve));
});

test('one person has two places and no more; of a crowd the last are asked to come again, and all that wait are worked on', async () => {
  const crowd = [...Array.from({ length: 5 }, () => 'ada'), ...Array.from({ length: 16 }, (_, i) => `person ${i}`)];
  const answers = await Promise.allSettled(crowd.map((person) => squareOf(picture, person)));
  assert.deepEqual(
    answers.map((one) => (one.status === 'rejected' ? (one.reason as { type: string }).type : 'webp' in one.value)),
    [true, true, ...Array(3).fill('rate_limited'), ...Array(14).fill(true), ...Array(2).fill('dependency_unavailable')],
  );
  assert.ok('webp' in (await squareOf(picture, 'ada')), 'places are given back');
});
