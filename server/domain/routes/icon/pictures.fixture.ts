import { crc32, deflateSync } from 'node:zlib';

// Pictures as servers send them, made by the standards' own words.

export const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
};

export const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A PNG of one colour; `extra` chunks stand before the pixels, and `claims` is the size its head speaks of. */
export function png(side = 32, { extra = [] as Buffer[], claims = side, colour = [0, 128, 255, 255] } = {}): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(claims, 0);
  head.writeUInt32BE(claims, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.concat(Array.from({ length: side }, () => Buffer.from(colour)))]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: side }, () => row)));
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), ...extra, chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

/** A 32-bit bitmap as an ICO holds it. */
export function bitmap(side: number): Buffer {
  const head = Buffer.alloc(40);
  head.writeUInt32LE(40, 0);
  head.writeInt32LE(side, 4);
  head.writeInt32LE(side * 2, 8);
  head.writeUInt16LE(1, 12);
  head.writeUInt16LE(32, 14);
  return Buffer.concat([head, Buffer.alloc(side * side * 4, 0x7f), Buffer.alloc(Math.ceil(side / 32) * 4 * side)]);
}

/** An ICO of some pictures with the sides they claim. */
export function ico(pictures: readonly { side: number; bytes: Buffer }[]): Buffer {
  const head = Buffer.alloc(6 + pictures.length * 16);
  head.writeUInt32LE(0x0001_0000, 0);
  head.writeUInt16LE(pictures.length, 4);
  let offset = head.length;
  pictures.forEach(({ side, bytes }, i) => {
    const at = 6 + i * 16;
    head[at] = side & 0xff;
    head[at + 1] = side & 0xff;
    head.writeUInt16LE(1, at + 4);
    head.writeUInt16LE(32, at + 6);
    head.writeUInt32LE(bytes.length, at + 8);
    head.writeUInt32LE(offset, at + 12);
    offset += bytes.length;
  });
  return Buffer.concat([head, ...pictures.map(({ bytes }) => bytes)]);
}
