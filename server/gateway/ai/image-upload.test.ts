import assert from 'node:assert/strict';
import test from 'node:test';
import { inSlices } from '#server/kernel/slices.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { imageUploadSteps } from './image-upload.ts';

const TYPE = 'multipart/form-data; boundary=x';
const field = (name: string, value: string) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (bytes: number) => `--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n${'a'.repeat(bytes)}\r\n`;
const read = (text: string, type = TYPE) => inSlices(imageUploadSteps(Buffer.from(text), type));

test('the fields of an upload say what it asks for, and its pictures are counted', async () => {
  const text = [field('prompt', 'A hat'), field('n', '3'), field('size', '1024x1536'), field('quality', 'HIGH'), file(9), file(9), '--x--'];
  assert.deepEqual(await read(text.join('')), {
    images: { count: 3, sent: 2, partial: 0, kind: { size: '1024x1536', quality: 'high' } },
    textBytes: 'A hat'.length + 1 + '1024x1536'.length + 'HIGH'.length,
  });
  assert.deepEqual((await read(`${file(9)}--x--`)).images, { count: 1, sent: 1, partial: 0, kind: {} });
});

test('an upload that two readers could read differently asks for the most', async () => {
  const most = { size: 'auto', quality: 'auto' };
  for (const [name, text, type] of [
    ['two sizes', field('size', '256x256') + field('size', '1024x1024')],
    ['another head', `--x\r\ncontent-disposition: form-data; name=size\r\n\r\n1024x1024\r\n`],
    ['two heads', `--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="size"\r\n\r\n1\r\n`],
    ['no end of a head', `--x\r\nContent-Disposition: form-data; name="size"\r\n`],
    ['a long head', `--x\r\nX: ${'a'.repeat(600)}\r\nContent-Disposition: form-data; name="size"\r\n\r\n1\r\n`],
    ['two boundaries', field('size', '256x256'), 'multipart/form-data; boundary=x; boundary=y'],
    ['no parts', ''],
  ] as const) {
    const { kind } = (await read(`${text}--x--`, type)).images;
    assert.equal(kind.size, most.size, name);
  }
  assert.equal((await read(`${field('n', '2')}${field('n', '9')}${field('n', 'x')}--x--`)).images.count, 9);
  assert.equal((await read(`${field('n', '1e9')}--x--`)).images.count, 128);
});

test('a body of 25 MiB, in pictures, parts or almost boundaries, is read without holding up others', async () => {
  const size = 25 * 1024 * 1024;
  const bodies = [file(size), field('a', 'b').repeat(size / 64), `--x\r\n${'--'.repeat(size / 2)}`, `--x\r\n${'-'.repeat(size)}--x`];
  for (const body of bodies.map((text) => Buffer.from(text))) await neverBlocks(() => inSlices(imageUploadSteps(body, TYPE)));
});
