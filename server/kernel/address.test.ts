import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import test from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { canonicalAddress, compileRanges, compileRangeTable, parseRange, rangeExtent } from './address.ts';

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
