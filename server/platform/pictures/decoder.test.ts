import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import test from 'node:test';
import sharp from 'sharp';
import { squareOf } from './decoder.ts';

const children: ChildProcess[] = [];
subscribe('child_process', (message) => children.push((message as { process: ChildProcess }).process));
const picture = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'teal' } })
  .png()
  .toBuffer();

test('a decoder that dies over a picture takes nothing with it: that one is refused, the next gets another decoder', async () => {
  assert.ok('webp' in (await squareOf(picture)));
  const refused = squareOf(picture);
  await Promise.resolve();
  children[0]!.kill('SIGKILL');
  assert.deepEqual(await refused, { fault: 'damaged' });
  assert.ok('webp' in (await squareOf(picture)));
  assert.equal(children.length, 2);
});

test('the decoder is given no key and no setting', { skip: process.platform !== 'linux' }, async () => {
  process.env.MASTER_KEY_B64 = 'a key that is nobody’s';
  children.at(-1)!.kill();
  await new Promise((resolve) => children.at(-1)!.once('exit', resolve));
  assert.ok('webp' in (await squareOf(picture)));
  const given = fs
    .readFileSync(`/proc/${children.at(-1)!.pid}/environ`, 'utf8')
    .split('\0')
    .filter(Boolean);
  assert.deepEqual(
    given.map((one) => one.split('=')[0]).filter((name) => !name?.startsWith('NODE_')),
    [],
  );
});

test('pictures are worked on one after the other; of a crowd the last are asked to come again', async () => {
  const crowd = await Promise.allSettled(Array.from({ length: 12 }, async () => squareOf(picture)));
  assert.equal(crowd.filter(({ status }) => status === 'fulfilled').length, 8);
  for (const one of crowd.slice(8)) assert.equal((one as { reason: { type: string } }).reason.type, 'dependency_unavailable');
  assert.ok('webp' in (await squareOf(picture)));
});
