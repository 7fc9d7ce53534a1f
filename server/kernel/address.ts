import ipaddr from 'ipaddr.js';

/**
 * Client addresses (interface rule 11 §2.2): one IPv4 or IPv6 address or range, in one spelling, so that equal inputs compare equal.
 * Pure and isomorphic: API keys, route allowlists, forms and the gateway share it.
 */
export type Range = {
  family: 4 | 6;
  /** First address, host bits cleared. */
  first: bigint;
  /** Prefix length. */
  bits: number;
};

export type Canonical = { ok: true; value: string; warning?: string } | { ok: false; problem: string };

const WIDTH = { 4: 32, 6: 128 } as const;
/** Shorter prefixes are accepted with a warning. */
const WIDE = { 4: 8, 6: 19 } as const;
const MULTICAST = { 4: { top: 0xen, bits: 4 }, 6: { top: 0xffn, bits: 8 } } as const;
const MAPPED = 0xffffn;
/** Characters of the longest spelling of an IPv6 address: six full groups and a dotted tail. */
const LONGEST = 45;

/**
 * The stored spelling of an address or range, or what is wrong with it (a clause to put behind the field's name).
 * `203.0.113.9/24` becomes `203.0.113.0/24`, `::ffff:192.0.2.1` becomes `192.0.2.1`, a whole-length prefix is dropped.
 */
export function canonicalAddress(text: string): Canonical {
  const range = parseRange(text);
  if ('problem' in range) return { ok: false, problem: range.problem };
  const value = formatRange(range);
  if (range.bits >= WIDE[range.family]) return { ok: true, value };
  return {
    ok: true,
    value,
    warning: `${value} covers a very large part of the ${range.family === 4 ? 'IPv4' : 'IPv6'} address space. Use a narrower range.`,
  };
}

/** Reads one address or range; host bits are cleared and mapped IPv6 becomes IPv4. */
export function parseRange(text: string): Range | { problem: string } {
  const trimmed = text.trim();
  if (/[,;\s]/.test(trimmed)) return { problem: 'must be a single address or range, without lists or spaces' };
  if (trimmed.includes('%')) return { problem: 'must not contain a zone ID (%)' };
  const [host = '', prefix, ...rest] = trimmed.split('/');
  const address = parseAddress(host, { mapped: 'keep' });
  if (!address || rest.length > 0) return { problem: notAnAddress(host) };
  const width = WIDTH[address.family];
  if (prefix !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefix))
    return { problem: `the prefix length must be a number from 1 to ${width}` };
  const bits = prefix === undefined ? width : Number(prefix);
  if (bits > width) return { problem: `the prefix length must be a number from 1 to ${width}` };
  return asRange(address, bits);
}

/** Whether an address lies in one of the ranges. Ranges that cannot be read match nothing; an empty list matches nothing. */
export function compileRanges(list: readonly string[]): (ip: string) => boolean {
  const find = compileRangeTable(list.map((range) => ({ range, value: true })));
  return (ip) => find(ip).length > 0;
}

/** Whether every one of the ranges lies in one of the covering ones. An empty list stands for every address, which no list covers. */
export function rangesCover(covering: readonly string[], ranges: readonly string[]): boolean {
  const outer = covering.map(parseRange);
  const covered = (text: string) => {
    const inner = parseRange(text);
    return outer.some(
      (one) =>
        !('problem' in one) &&
        !('problem' in inner) &&
        one.family === inner.family &&
        one.bits <= inner.bits &&
        inner.first >> BigInt(WIDTH[one.family] - one.bits) === one.first >> BigInt(WIDTH[one.family] - one.bits),
    );
  };
  return ranges.length > 0 && ranges.every(covered);
}

/**
 * A table from ranges to values: the values of every range that holds the address, longest prefix first, ties in the order given
 * (interface rule 11 §3.1). One look-up per distinct prefix length, so ten thousand ranges cost what a few do.
 */
export function compileRangeTable<T>(entries: readonly { range: string; value: T }[]): (ip: string) => T[] {
  const tables = { 4: new Map<number, Map<bigint, T[]>>(), 6: new Map<number, Map<bigint, T[]>>() };
  for (const { range: text, value } of entries) {
    const range = parseRange(text);
    if ('problem' in range) continue;
    const table = tables[range.family];
    const byPrefix = table.get(range.bits) ?? new Map<bigint, T[]>();
    table.set(range.bits, byPrefix);
    const key = range.first >> BigInt((range.family === 4 ? 32 : 128) - range.bits);
    const values = byPrefix.get(key);
    if (values) values.push(value);
    else byPrefix.set(key, [value]);
  }
  const longestFirst = (family: 4 | 6) =>
    [...tables[family]]
      .sort(([a], [b]) => b - a)
      .map(([bits, byPrefix]) => ({ shift: BigInt((family === 4 ? 32 : 128) - bits), byPrefix }));
  const ordered = { 4: longestFirst(4), 6: longestFirst(6) };

  return (ip) => {
    // A zone names the interface a link-local caller came in on; it is no part of the address.
    const zone = ip.indexOf('%');
    const address = parseAddress(zone < 0 ? ip : ip.slice(0, zone));
    if (!address) return [];
    return ordered[address.family].flatMap(({ shift, byPrefix }) => byPrefix.get(address.value >> shift) ?? []);
  };
}

/** `203.0.113.0/24`; a single address carries no prefix. IPv6 is written as in RFC 5952. */
export function formatRange({ family, first, bits }: Range): string {
  const width = WIDTH[family];
  const bytes = Array.from({ length: width / 8 }, (_, i) => Number((first >> BigInt(width - 8 - 8 * i)) & 0xffn));
  const text = ipaddr.fromByteArray(bytes).toString();
  return bits === width ? text : `${text}/${bits}`;
}

/** Number of addresses, the first and the last one: what the form shows beside the field. */
export function rangeExtent({ family, first, bits }: Range): { count: bigint; first: string; last: string } {
  const count = 1n << BigInt(WIDTH[family] - bits);
  const whole = WIDTH[family];
  return {
    count,
    first: formatRange({ family, first, bits: whole }),
    last: formatRange({ family, first: first + count - 1n, bits: whole }),
  };
}

/** An address as a number; mapped IPv6 is read as IPv4 unless kept. Undefined for anything that is not one address. */
export function parseAddress(
  text: string,
  { mapped = 'convert' }: { mapped?: 'convert' | 'keep' } = {},
): { family: 4 | 6; value: bigint } | undefined {
  // Not left to ipaddr.js: its check for IPv4 throws and catches an error, which costs more than parsing IPv6, and more than the rest of a call for a host name.
  if (!text.includes(':'))
    return LIKE_V4.test(text) && ipaddr.IPv4.isValidFourPartDecimal(text)
      ? { family: 4, value: numberOfV4(ipaddr.IPv4.parse(text)) }
      : undefined;
  const hex = text.length <= LONGEST && !text.includes('%') ? withoutDottedTail(text) : undefined;
  if (hex === undefined || !ipaddr.IPv6.isValid(hex)) return undefined;
  const value = numberOfV6(ipaddr.IPv6.parse(hex));
  return mapped === 'convert' && value >> 32n === MAPPED ? { family: 4, value: value & 0xffff_ffffn } : { family: 6, value };
}

/** Only such a text can be an address in four decimal parts. */
const LIKE_V4 = /^[\d.]{7,15}$/;

/**
 * `::ffff:192.0.2.1` as `::ffff:c000:201`; undefined if the tail is no IPv4 address. ipaddr.js would accept octal and hex parts there, and read `::8.8.8.8`,
 * which is `::808:808`, as an IPv4-mapped address.
 */
function withoutDottedTail(text: string): string | undefined {
  const at = text.lastIndexOf(':') + 1;
  const tail = text.slice(at);
  if (!tail.includes('.')) return text;
  if (!ipaddr.IPv4.isValidFourPartDecimal(tail)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(tail).octets;
  return `${text.slice(0, at)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

const numberOfV4 = ({ octets }: ipaddr.IPv4): bigint => BigInt(octets.reduce((sum, octet) => sum * 256 + octet, 0));
const numberOfV6 = ({ parts }: ipaddr.IPv6): bigint => parts.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n);

function asRange(address: { family: 4 | 6; value: bigint }, bits: number): Range | { problem: string } {
  let { family, value } = address;
  if (family === 6 && value >> 32n === MAPPED) {
    // A mapped range wider than the mapped block would mean IPv4 callers and never match one.
    if (bits < 96) return { problem: 'must be written as IPv4, not as an IPv4-mapped IPv6 range' };
    family = 4;
    value &= 0xffff_ffffn;
    bits -= 96;
  }
  if (bits === 0) return { problem: 'must not be a /0 range, which allows every address' };
  const host = BigInt(WIDTH[family] - bits);
  const first = (value >> host) << host;
  if (first === 0n && host === 0n) return { problem: 'must not be the unspecified address' };
  const { top, bits: long } = MULTICAST[family];
  if (bits >= long && first >> BigInt(WIDTH[family] - long) === top) return { problem: 'must not be a multicast address' };
  return { family, first, bits };
}

function notAnAddress(host: string): string {
  if (/^\d+(?:\.\d+){3}$/.test(host) && host.split('.').some((part) => /^0\d/.test(part)))
    return 'must not have leading zeros, which some systems read as octal';
  return 'must be an IPv4 or IPv6 address, or one with a prefix length such as 203.0.113.0/24';
}
