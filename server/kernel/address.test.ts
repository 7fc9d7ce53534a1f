import assert from 'node:assert/strict';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import test from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { canonicalAddress, compileRanges, compileRangeTable, formatRange, parseAddress, parseRange, rangeExtent } from './address.ts';

const ACCEPTED: [given: string, stored: string, warns?: true][] = [
  ['203.0.113.9', '203.0.113.9'],
  [' 203.0.113.9 ', '203.0.113.9'],
  ['203.0.113.9/32', '203.0.113.9'],
  ['203.0.113.9/24', '203.0.113.0/24'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['127.0.0.1', '127.0.0.1'],
  ['192.168.0.0/16', '192.168.0.0/16'],
  ['10.1.2.3/7', '10.0.0.0/7', true],
  ['0.0.0.0/1', '0.0.0.0/1', true],
  ['255.255.255.255/1', '128.0.0.0/1', true],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:0db8::0001', '2001:db8::1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['::1', '::1'],
  ['fe80::', 'fe80::'],
  ['::8.8.8.8', '::808:808'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1/128', '192.0.2.1'],
  ['::ffff:192.0.2.77/120', '192.0.2.0/24'],
  ['2001:db8::ffff/64', '2001:db8::/64'],
  ['2001:db8::1/128', '2001:db8::1'],
  ['fd00::/8', 'fd00::/8', true],
  ['2000::/19', '2000::/19'],
  ['2000::/18', '2000::/18', true],
];

test('an address is stored in one spelling', () => {
  for (const [given, stored, warns] of ACCEPTED) {
    const answer = canonicalAddress(given);
    assert.deepEqual(
      { value: answer.ok && answer.value, warns: answer.ok && answer.warning !== undefined },
      { value: stored, warns: warns ?? false },
      given,
    );
  }
});

test('what could mean everyone, nobody or two things is refused', () => {
  const refused = [
    '',
    ' ',
    '/',
    '/24',
    '1',
    '256.1.1.1',
    '1.2.3',
    '1.2.3.4.5',
    '010.0.0.1',
    '1.2.3.04',
    '0x7f.0.0.1',
    '2130706433',
    '127.1',
    '１.2.3.4',
    '0.0.0.0',
    '0.0.0.0/0',
    '10.0.0.0/0',
    '::',
    '::/0',
    '2001:db8::/0',
    '::ffff:1.2.3.4/96',
    '::ffff:1.2.3.4/90',
    '::ffff:0.0.0.0',
    '0.0.0.0/32',
    '224.0.0.1',
    '239.0.0.0/8',
    '224.0.0.0/4',
    'ff02::1',
    'ff00::/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/+8',
    '10.0.0.0/08',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/8.0',
    '10.0.0.0/255.0.0.0',
    '::1/129',
    'fe80::1%eth0',
    'fe80::1%251',
    '1.2.3.4,5.6.7.8',
    '1.2.3.4 5.6.7.8',
    '1.2.3.4;5.6.7.8',
    '1.2.3.4-1.2.3.9',
    '1.2.3.4:80',
    '[::1]',
    '::1]/',
    ':::',
    '1:::2',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8:9',
    '12345::',
    'g::',
    '1.2.3.4::',
    '::1.2.3',
    'localhost',
  ];
  for (const given of refused) assert.equal(canonicalAddress(given).ok, false, given);
});

/** What the parser before ipaddr.js made of these: family and value in hex, or refused; then the value where an IPv4-mapped address is kept as IPv6. */
const VECTORS: [given: string, read: string | undefined, mappedKept?: string][] = [
  ['1.2.3.4', '4 1020304'],
  ['255.255.255.255', '4 ffffffff'],
  ['0.0.0.0', '4 0'],
  ['01.2.3.4', undefined],
  ['0x1.2.3.4', undefined],
  ['1.2.3', undefined],
  ['16909060', undefined],
  ['::', '6 0'],
  ['::1', '6 1'],
  ['1::', '6 10000000000000000000000000000'],
  ['1:2:3:4:5:6:7::', '6 10002000300040005000600070000'],
  ['::2:3:4:5:6:7:8', '6 2000300040005000600070008'],
  ['1:2:3:4:5:6:7::8', undefined],
  ['1:2:3:4::5:6:7:8', undefined],
  ['0:0:0:0:0:0:0:0', '6 0'],
  ['::8.8.8.8', '6 8080808'],
  ['::ffff:8.8.8.8', '4 8080808', '6 ffff08080808'],
  ['::ffff:0:8.8.8.8', '6 ffff000008080808'],
  ['0:0:0:0:0:FFFF:808:808', '4 8080808', '6 ffff08080808'],
  ['::ffff:08.8.8.8', undefined],
  ['::ffff:0x8.8.8.8', undefined],
  ['::ffff:8.8.8', undefined],
  ['1:2:3:4:5:6:8.8.8.8', '6 10002000300040005000608080808'],
  ['1:2:3:4:5:6:7:8.8.8.8', undefined],
  ['1:2:3:4:5::8.8.8.8', '6 10002000300040005000008080808'],
  ['1:2:3:4:5:6::8.8.8.8', undefined],
  ['8.8.8.8::', undefined],
  ['64:ff9b::8.8.8.8', '6 64ff9b000000000000000008080808'],
  ['2002:808:808::', '6 20020808080800000000000000000000'],
  ['fe80::1%eth0', undefined],
  ['::1%0', undefined],
  ['00001::', undefined],
  ['::00000', undefined],
  ['0001:0002::', '6 10002000000000000000000000000'],
  ['ABCD:ef01::', '6 abcdef01000000000000000000000000'],
  ['1:2:3:4:5:6:7:', undefined],
  ['::1:', undefined],
  [':1::', undefined],
];

test('reads every spelling as before', () => {
  const told = (address: ReturnType<typeof parseAddress>) => address && `${address.family} ${address.value.toString(16)}`;
  for (const [given, read, mappedKept = read] of VECTORS) {
    assert.equal(told(parseAddress(given)), read, given);
    assert.equal(told(parseAddress(given, { mapped: 'keep' })), mappedKept, given);
  }
});

const groups = fc.array(
  fc.oneof(
    fc.nat(0xffff).map((n) => n.toString(16)),
    fc.constantFrom('0', '00', '0000', '00000', 'FFFF', '10000', 'g', ''),
  ),
  { maxLength: 9 },
);
const octets = fc.array(fc.oneof(fc.nat(260).map(String), fc.constantFrom('00', '01', '010', '0x7f', '', '+1', '1e1')), {
  minLength: 3,
  maxLength: 5,
});
const almost = fc
  .tuple(groups, fc.constantFrom('', ':', '::'), fc.nat(8), fc.constantFrom('', ':', '::'), fc.option(octets))
  .map(([words, before, gap, after, tail]) =>
    [before, words.map((word, i) => (i === gap ? `:${word}` : word)).join(':'), after, tail?.join('.') ?? ''].join(''),
  );

test('reads what inet_pton reads and nothing else', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        almost,
        octets.map((parts) => parts.join('.')),
        fc.ipV4(),
        fc.ipV6(),
        fc.ipV4Extended(),
      ),
      (given) => {
        const address = parseAddress(given, { mapped: 'keep' });
        assert.equal(address?.family ?? 0, isIP(given), given);
        if (!address) return;
        const host = address.family === 4 ? given : URL.parse(`http://[${given}]/`)?.hostname.slice(1, -1);
        assert.equal(formatRange({ family: address.family, first: address.value, bits: address.family === 4 ? 32 : 128 }), host);
      },
    ),
    { numRuns: 3000 },
  );
});

const v4 = fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`);
const v6 = fc.tuple(fc.ipV6(), fc.integer({ min: 1, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`);

test('canonicalisation is idempotent and keeps the meaning', () => {
  fc.assert(
    fc.property(fc.oneof(v4, v6), (given) => {
      const once = canonicalAddress(given);
      if (!once.ok) return;
      assert.deepEqual(canonicalAddress(once.value), once);
      const [address = ''] = once.value.split('/');
      assert.ok(isIPv4(address) || isIPv6(address), once.value);
    }),
    { numRuns: 2000 },
  );
});

test('any text is refused or read, never thrown over, and nothing but digits, letters, : . / comes out', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'0123456789abcdef:./%') })), (given) => {
      const answer = canonicalAddress(given);
      if (answer.ok) assert.match(answer.value, /^[0-9a-f:.]+(\/\d+)?$/);
    }),
    { numRuns: 3000 },
  );
});

test('matching agrees with an independent implementation', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(v4, v6), { maxLength: 20 }), fc.oneof(fc.ipV4(), fc.ipV6()), (ranges, ip) => {
      const usable = ranges.flatMap((r) => (canonicalAddress(r).ok ? [(canonicalAddress(r) as { value: string }).value] : []));
      const source = ipaddr.parse(ip.includes(':') ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip);
      if (source.kind() === 'ipv6' && (source as ipaddr.IPv6).isIPv4MappedAddress()) return;
      const expected = usable.some((r) => {
        const [base, bits] = ipaddr.parseCIDR(r.includes('/') ? r : `${r}/${r.includes(':') ? 128 : 32}`);
        return base.kind() === source.kind() && source.match(base, bits);
      });
      assert.equal(compileRanges(usable)(ip), expected, `${ip} in ${usable}`);
    }),
    { numRuns: 2000 },
  );
});

const rangeText = (given: string) => {
  const answer = canonicalAddress(given);
  return answer.ok ? answer.value : undefined;
};

test('every address of a range matches it, and its neighbours do not', () => {
  fc.assert(
    fc.property(fc.oneof(v4, v6), (given) => {
      const range = parseRange(given);
      if ('problem' in range) return;
      const { first, last } = rangeExtent(range);
      const within = compileRanges([given]);
      assert.ok(within(first));
      // ::/80 ends with the mapped addresses, which are IPv4 wherever they come from.
      assert.equal(within(last), rangeText(given) !== '::/80');
    }),
    { examples: [['::/80'], ['::/79'], ['::/81']] },
  );
  const within = compileRanges(['203.0.113.0/24']);
  assert.deepEqual(['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'].map(within), [false, true, true, false]);
});

test('the longest prefix comes first and ties keep their order; a mapped or zoned source is read as what it is', () => {
  const find = compileRangeTable([
    { range: '10.0.0.0/8', value: 'wide' },
    { range: '10.1.0.0/16', value: 'first' },
    { range: '10.1.2.3', value: 'exact' },
    { range: '10.1.0.0/16', value: 'second' },
    { range: 'fe80::/64', value: 'link' },
    { range: 'rubbish', value: 'never' },
  ]);
  assert.deepEqual(find('::ffff:10.1.2.3'), ['exact', 'first', 'second', 'wide']);
  assert.deepEqual(find('10.9.9.9'), ['wide']);
  assert.deepEqual(find('fe80::1%eth0'), ['link']);
  for (const ip of ['11.0.0.0', '::1', '', 'rubbish']) assert.deepEqual(find(ip), []);
  assert.equal(compileRanges([])('10.0.0.1'), false);
});

test('a host name is refused without the check of the library, which throws for it: every call of an upstream asks this', (t) => {
  const checks = t.mock.method(ipaddr.IPv4, 'isValid').mock;
  for (const name of ['api.stripe.com', 'a', '', 'x'.repeat(300), '1.2.3.4.5.6.7.8.9.0', '0x7f.0.0.1'])
    assert.equal(parseAddress(name), undefined);
  assert.equal(checks.callCount(), 0);
  assert.deepEqual(parseAddress('255.255.255.255'), { family: 4, value: 0xffff_ffffn });
  assert.equal(checks.callCount(), 1);
});
