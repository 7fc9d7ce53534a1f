import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { FrameCursor } from './frame-cursor.ts';

/** A frame as RFC 6455 §5.2 draws it. */
function frame(length: number, masked: boolean): Buffer {
  const bits = masked ? 0x80 : 0;
  const head =
    length < 126
      ? Buffer.from([0x82, bits | length])
      : length < 65_536
        ? Buffer.from([0x82, bits | 126, length >> 8, length & 0xff])
        : Buffer.concat([Buffer.from([0x82, bits | 127]), bigEndian(length)]);
  return Buffer.concat([head, Buffer.alloc(masked ? 4 : 0, 9), Buffer.alloc(length, 0x88)]);
}
const bigEndian = (n: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(n));
  return bytes;
};

test('however the bytes of frames arrive, boundaries are found where frames end and nowhere else', () => {
  const frames = fc.array(
    fc.tuple(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(125, 126, 65_535, 65_536, 70_000)), fc.boolean()),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 40 }), (list, cuts) => {
      const parts = list.map(([length, masked]) => frame(length, masked));
      const ends = new Set(parts.map((_, i) => parts.slice(0, i + 1).reduce((sum, part) => sum + part.length, 0)));
      const all = Buffer.concat(parts);
      const cursor = new FrameCursor();
      for (let at = 0, i = 0; at < all.length; i++) {
        const size = cuts[i % cuts.length] ?? 1;
        const chunk = all.subarray(at, at + size);
        const found = cursor.pass(chunk);
        const expected = [...ends].filter((end) => end > at && end <= at + chunk.length).sort((a, b) => a - b)[0];
        assert.equal(found, expected === undefined ? -1 : expected - at);
        at += chunk.length;
        assert.equal(cursor.atBoundary, ends.has(at));
      }
    }),
  );
});

test('a frame of more bytes than a number can count is waited for, not wrapped around', () => {
  const cursor = new FrameCursor();
  const head = Buffer.concat([Buffer.from([0x82, 127]), Buffer.alloc(8, 0xff)]);
  assert.equal(cursor.pass(head), -1);
  assert.equal(cursor.pass(Buffer.alloc(1_000_000)), -1);
  assert.equal(cursor.atBoundary, false);
});
