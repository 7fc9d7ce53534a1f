import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseRange } from '../kernel/address.ts';

/** What a record may hold here. */
type Value = string | number | boolean | { [key: string]: Value };

/** Makes countries known to this process: before the first setting is read, so at the top of a test file. */
export function knownCountries(byRange: { [range: string]: Value }): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'countries-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.env.GEOIP_DB_PATH = path.join(folder, 'world.mmdb');
  writeFileSync(process.env.GEOIP_DB_PATH, mmdb(byRange));
}

/**
 * A MaxMind database, byte by byte as the public format says (maxmind.github.io/MaxMind-DB): a binary tree over the bits of an address, 24 bits a record,
 * whose leaves point into the data behind it; then a marker and the description. Ranges must not overlap.
 */
export function mmdb(entries: { [range: string]: Value }, { version = 6, type = 'Test-City', built = new Date() } = {}): Buffer {
  const data: Buffer[] = [];
  let size = 0;
  const nodes: [Leaf, Leaf][] = [[null, null]];
  for (const [text, value] of Object.entries(entries)) {
    const range = parseRange(text);
    if ('problem' in range) throw new Error(range.problem);
    // IPv4 is at the zeros of IPv6.
    const width = version === 6 ? 128 : 32;
    const bits = range.family === 4 && version === 6 ? range.bits + 96 : range.bits;
    place(nodes, range.first, bits, width, { data: size });
    const bytes = encode(value);
    data.push(bytes);
    size += bytes.length;
  }
  const number = (leaf: Leaf) => (leaf === null ? nodes.length : typeof leaf === 'number' ? leaf : nodes.length + 16 + leaf.data);
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [at, [left, right]] of nodes.entries()) {
    tree.writeUIntBE(number(left), at * 6, 3);
    tree.writeUIntBE(number(right), at * 6 + 3, 3);
  }
  const about = map({
    node_count: uint(6, nodes.length, 4),
    record_size: uint(5, 24, 2),
    ip_version: uint(5, version, 2),
    database_type: encode(type),
    languages: Buffer.concat([control(11, 1), encode('en')]),
    binary_format_major_version: uint(5, 2, 2),
    binary_format_minor_version: uint(5, 0, 2),
    build_epoch: uint(9, Math.floor(built.getTime() / 1_000), 8),
    description: encode({ en: 'made by a test' }),
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), about]);
}

/** What a record of a country, with a city perhaps, says. */
export const placeIn = (iso_code: string, city?: string): Value => ({
  country: { iso_code, names: { en: iso_code } },
  ...(city ? { city: { names: { en: city } } } : {}),
});

/** Nothing, a node, or data. */
type Leaf = null | number | { data: number };

function place(nodes: [Leaf, Leaf][], first: bigint, bits: number, width: number, leaf: Leaf): void {
  let at = 0;
  for (let depth = 0; ; depth++) {
    const side = Number((first >> BigInt(width - 1 - depth)) & 1n) as 0 | 1;
    const node = nodes[at] as [Leaf, Leaf];
    if (depth === bits - 1) {
      node[side] = leaf;
      return;
    }
    const next = node[side];
    at = typeof next === 'number' ? next : nodes.push([null, null]) - 1;
    node[side] = at;
  }
}

function encode(value: Value): Buffer {
  if (typeof value === 'boolean') return control(14, value ? 1 : 0);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return Buffer.concat([control(3, 8), bytes]);
  }
  if (typeof value === 'object') return map(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, encode(one)])));
  const text = Buffer.from(value);
  return Buffer.concat([control(2, text.length), text]);
}

const map = (entries: { [key: string]: Buffer }): Buffer =>
  Buffer.concat([control(7, Object.keys(entries).length), ...Object.entries(entries).flatMap(([key, value]) => [encode(key), value])]);

function uint(type: number, value: number, bytes: number): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(value));
  return Buffer.concat([control(type, bytes), number.subarray(8 - bytes)]);
}

/** Type and size; types beyond 7 take a byte of their own. */
function control(type: number, size: number): Buffer {
  const [first, more] = size < 29 ? [size, []] : [29, [size - 29]];
  return Buffer.from(type <= 7 ? [(type << 5) | first, ...more] : [first, type - 7, ...more]);
}
