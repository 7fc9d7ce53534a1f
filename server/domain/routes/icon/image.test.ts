import assert from 'node:assert/strict';
import test from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { iconImage } from './image.ts';
import { bitmap, chunk, ico, png } from './pictures.fixture.ts';

test('a PNG is kept to its pixels: texts, profiles, animations and what follows the picture are left out', () => {
  const plain = png();
  const text = chunk('tEXt', Buffer.from('Comment\0<script>alert(1)</script>'));
  const profile = chunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), deflateSync(Buffer.alloc(100_000))]));
  const frames = chunk('acTL', Buffer.from([0, 0, 0, 9, 0, 0, 0, 0]));
  const polyglot = Buffer.concat([png(32, { extra: [text, profile, frames] }), Buffer.from('<html><script>alert(1)</script>')]);
  assert.deepEqual(iconImage(polyglot), { type: 'image/png', bytes: plain });
  assert.deepEqual(iconImage(plain), { type: 'image/png', bytes: plain });
});

test('a PNG that speaks of a picture larger than an icon is refused, so that few bytes do not fill a reader’s memory', () => {
  assert.equal(iconImage(png(8, { claims: 513 })), null);
  assert.equal(iconImage(png(8, { claims: 0x7fff_ffff })), null);
  assert.equal(iconImage(png(8, { claims: 0 })), null);
  assert.ok(iconImage(png(512)));
});

test('a PNG that is cut off, has a wrong sum, no pixels or two heads is refused', () => {
  const good = png();
  for (const cut of [0, 7, 8, 20, 33, good.length - 1]) assert.equal(iconImage(good.subarray(0, cut)), null, `${cut}`);
  const flipped = Buffer.from(good);
  flipped[50] = (flipped[50] ?? 0) ^ 1;
  assert.equal(iconImage(flipped), null);
  const head = good.subarray(8, 33);
  assert.equal(iconImage(Buffer.concat([good.subarray(0, 33), chunk('IEND', Buffer.alloc(0))])), null);
  assert.equal(iconImage(Buffer.concat([good.subarray(0, 33), head, good.subarray(33)])), null);
  assert.equal(iconImage(Buffer.concat([good.subarray(0, 8), chunk('tEXt', Buffer.from('x')), good.subarray(8)])), null);
});

test('of an ICO the picture fit for a list is kept, as a PNG when it is one', () => {
  const sizes = [16, 32, 48].map((side) => ({ side, bytes: bitmap(side) }));
  const kept = iconImage(ico(sizes));
  assert.equal(kept?.type, 'image/x-icon');
  assert.deepEqual([kept?.bytes[6], kept?.bytes.readUInt16LE(4), kept?.bytes.length], [32, 1, 22 + bitmap(32).length]);
  assert.equal(iconImage(ico([{ side: 16, bytes: bitmap(16) }]))?.bytes[6], 16);
  assert.deepEqual(
    iconImage(
      ico([
        { side: 16, bytes: bitmap(16) },
        { side: 256, bytes: png(256) },
      ]),
    ),
    { type: 'image/png', bytes: png(256) },
  );
  const again = kept && iconImage(kept.bytes);
  assert.deepEqual(again, kept, 'what was kept once is kept the same again');
});

test('an ICO that points outside itself, or whose picture is shorter than it says, is refused', () => {
  const good = ico([{ side: 32, bytes: bitmap(32) }]);
  const outside = Buffer.from(good);
  outside.writeUInt32LE(0xffff_fff0, 18);
  assert.equal(iconImage(outside), null);
  const itself = Buffer.from(good);
  itself.writeUInt32LE(0, 18);
  assert.equal(iconImage(itself), null);
  const wide = Buffer.from(good);
  wide.writeInt32LE(30_000, 22 + 4);
  assert.equal(iconImage(wide), null);
  const palette = Buffer.from(good);
  palette.writeUInt16LE(8, 22 + 14);
  palette.writeUInt32LE(0x7fff_ffff, 22 + 32);
  assert.equal(iconImage(palette), null);
  assert.equal(iconImage(ico([])), null);
});

test('no other format passes, whatever it begins with', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const others = [
    svg,
    `\ufeff${svg}`,
    `<?xml version="1.0"?>${svg}`,
    '<!doctype html><script>',
    'GIF89a\u0001\u0000\u0001\u0000',
    '',
    'BM',
    '{}',
  ];
  for (const text of others) assert.equal(iconImage(Buffer.from(text)), null, text);
  assert.equal(iconImage(Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from(svg)])), null);
  assert.equal(iconImage(Buffer.concat([Buffer.from([0, 0, 1, 0, 1, 0]), Buffer.from(svg)])), null);
  assert.equal(iconImage(gzipSync(png())), null);
  assert.equal(iconImage(Buffer.from([0xff, 0xd8, 0xff, 0xe0])), null);
});

test('whatever bytes come, an answer comes, and an icon that is taken is taken again as it is', () => {
  const start = fc.constantFrom(png(4), ico([{ side: 8, bytes: bitmap(8) }]), ico([{ side: 8, bytes: png(8) }]), Buffer.alloc(0));
  const edits = fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 6 });
  fc.assert(
    fc.property(start, edits, fc.uint8Array({ maxLength: 64 }), (from, changes, tail) => {
      const bytes = Buffer.concat([from, tail]);
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
      const kept = iconImage(bytes);
      if (kept) assert.deepEqual(iconImage(kept.bytes), kept);
    }),
    { numRuns: 2_000 },
  );
});
