import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import test from 'node:test';
import fc from 'fast-check';
import { BLOCKED_IPV4, BLOCKED_IPV6 } from './deny-list.ts';
import { checkAddress, checkHost } from './guard.ts';
import { egressSettings } from './settings.ts';

const strict = egressSettings({ ownHosts: ['sallyport.example'] });

test('every listed network is refused at its first and last address, on every port', () => {
  const cases = [
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.1', '127.255.255.255'],
    ['169.254.0.0', '169.254.169.254'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '239.255.255.255'],
    ['240.0.0.0', '255.255.255.254'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::1'],
    ['::7f00:1', '::8.8.8.8'],
    ['64:ff9b:1::', '64:ff9b:1:ffff::1'],
    ['100::', '100::ffff'],
    ['2001::', '2001:1ff:ffff::1'],
    ['2001:db8::', '2001:db8:ffff::1'],
    ['fc00::', 'fdff:ffff::1'],
    ['fe80::1', 'febf::1'],
    ['fec0::1', 'ff02::1'],
    ['4000::1', '3fff::1'],
  ];
  assert.equal(BLOCKED_IPV4.length, 16);
  assert.equal(BLOCKED_IPV6.length, 12);
  for (const address of cases.flat()) {
    for (const port of [80, 443, 8443]) assert.equal(checkAddress(address, port, strict).ok, false, address);
  }
});

test('public addresses next to refused ones are accepted', () => {
  const open = ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.1'];
  open.push('169.253.255.255', '172.15.255.255', '172.32.0.0', '192.0.1.0', '198.17.255.255', '198.20.0.0', '223.255.255.255');
  open.push('2606:4700::1111', '2001:200::1', '2a00:1450::1');
  for (const address of open) assert.deepEqual(checkAddress(address, 443, strict), { ok: true, exempt: false }, address);
});

test('mapped, NAT64 and 6to4 addresses are judged by the IPv4 address inside', () => {
  for (const address of [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::10.0.0.1',
    '2002:7f00:1::',
    '2002:c0a8:101::1',
  ])
    assert.equal(checkAddress(address, 443, strict).ok, false, address);
  for (const address of ['::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'])
    assert.equal(checkAddress(address, 443, strict).ok, true, address);
});

test('what is not one address is refused, zones and short forms included', () => {
  for (const text of [
    '',
    'example.com',
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '010.0.0.1',
    '1.2.3.4.5',
    'fe80::1%eth0',
    '2606:4700::1%lo',
    '8.8.8.8 ',
  ])
    assert.equal(checkAddress(text, 443, strict).ok, false, text);
});

test('the allow-list opens exactly its network and port, and the deny-list wins over it', () => {
  const settings = egressSettings({
    privateAllowlist: [{ cidr: '10.1.0.0/16' }, { cidr: '127.0.0.1/32', port: 9000 }, { cidr: 'fd00::/8', port: undefined }],
    denylist: ['10.1.9.0/24', '8.8.8.8'],
  });
  assert.deepEqual(checkAddress('10.1.2.3', 443, settings), { ok: true, exempt: true });
  assert.deepEqual(checkAddress('::ffff:10.1.2.3', 443, settings), { ok: true, exempt: true });
  assert.deepEqual(checkAddress('fd12::1', 80, settings), { ok: true, exempt: true });
  assert.equal(checkAddress('10.2.0.1', 443, settings).ok, false);
  assert.equal(checkAddress('127.0.0.1', 9000, settings).ok, true);
  assert.equal(checkAddress('127.0.0.1', 9001, settings).ok, false);
  assert.equal(checkAddress('10.1.9.9', 443, settings).ok, false);
  assert.equal(checkAddress('8.8.8.8', 443, settings).ok, false);
});

test('own listeners are refused on every address of this machine even when allow-listed', () => {
  const settings = egressSettings({ privateAllowlist: [{ cidr: '0.0.0.0/0' }, { cidr: '::/0' }], ownPorts: [4000] });
  const mine = Object.values(networkInterfaces()).flatMap((cards) => cards?.map((card) => card.address.split('%')[0] as string) ?? []);
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '0.0.0.0', '::ffff:127.0.0.1', ...mine]) {
    assert.equal(checkAddress(address, 4000, settings).ok, false, address);
    if (address !== '::' && address !== '0.0.0.0') assert.equal(checkAddress(address, 4001, settings).ok, true, address);
  }
});

test('other spellings of an address are refused as hosts, so a saved URL means one thing to every reader', () => {
  const numeric = [
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '0x7f000001',
    '017700000001',
    '127.0.1',
    '0x7F.0.0.1',
    '8.8.2056',
    '134744072',
  ];
  for (const host of numeric)
    assert.deepEqual({ ...checkHost(host, 443, strict), message: '' }, { ok: false, reason: 'numeric', message: '' }, host);
  for (const host of ['①②⑦.⓪.⓪.①', 'раypal.example', 'exämple.com', '127。0。0。1', 'a\u200bb.example'])
    assert.equal((checkHost(host, 443, strict) as { reason: string }).reason, 'not_ascii', host);
  const malformed = ['', '.', 'a..b', '-a.example', 'a-.example', `${'a'.repeat(64)}.example`, `${'a.'.repeat(130)}example`, 'a b.example'];
  malformed.push(
    '%31%32%37.0.0.1',
    'foo@127.0.0.1',
    'a/b',
    'a\tb',
    '[::1',
    '[::1%25lo]',
    '1.2.3.4.5',
    '0x.example.0x7f',
    'xn--a',
    'a'.repeat(300),
  );
  for (const host of malformed) assert.equal(checkHost(host, 443, strict).ok, false, host);
});

test('refused names stay refused in any case and with a trailing dot', () => {
  const names = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'printer.local',
    'db.internal',
    'nas.home.arpa',
    'router',
    'metadata',
  ];
  names.push(
    'metadata.google.internal',
    'METADATA.google.internal.',
    'sallyport.example',
    'acme.sallyport.example',
    'Acme.Sallyport.Example.',
  );
  names.push('127.0.0.1', '127.0.0.1.', '[::1]', '[::ffff:7f00:1]', '[::]', '169.254.169.254');
  for (const host of names) assert.equal(checkHost(host, 443, strict).ok, false, host);
});

test('suffix tricks on own and refused names do not catch strangers', () => {
  for (const host of [
    'notsallyport.example',
    'sallyport.example.evil.test',
    'mylocalhost.example',
    'local.example',
    'internal-tools.example',
  ])
    assert.equal(checkHost(host, 443, strict).ok, true, host);
});

test('a good host comes back in one spelling', () => {
  assert.deepEqual(checkHost('API.Example.COM.', 443, strict), { ok: true, host: 'api.example.com', kind: 'name', onlyPrivate: false });
  assert.deepEqual(checkHost('xn--exmple-cua.com', 443, strict), {
    ok: true,
    host: 'xn--exmple-cua.com',
    kind: 'name',
    onlyPrivate: false,
  });
  assert.deepEqual(checkHost('[2606:4700:0:0::1111]', 443, strict), {
    ok: true,
    host: '2606:4700::1111',
    kind: 'address',
    onlyPrivate: false,
  });
});

test('an own host bound to a port leaves the other ports of that name alone', () => {
  const settings = egressSettings({ ownHosts: ['localhost:4000'], privateAllowlist: [{ cidr: '127.0.0.0/8' }] });
  assert.equal(checkHost('localhost', 4000, settings).ok, false);
  assert.equal(checkHost('acme.localhost', 4000, settings).ok, false);
  assert.equal(checkHost('localhost', 9100, settings).ok, true);
});

test('no spelling of a private IPv4 address passes, in any notation a URL parser accepts', () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const base = fc.constantFrom(10, 8, 16);
  const write = (n: number, radix: number) => (radix === 16 ? `0x${n.toString(16)}` : radix === 8 ? `0${n.toString(8)}` : `${n}`);
  fc.assert(
    fc.property(octet, octet, octet, base, base, (b, c, d, one, two) => {
      const rest = b * 65536 + c * 256 + d;
      const spellings = [
        `${write(127, one)}.${write(rest, two)}`,
        write(127 * 2 ** 24 + rest, one),
        `${write(127, one)}.${write(b, two)}.${write(c * 256 + d, one)}`,
      ];
      spellings.push(`${write(127, one)}.${write(b, two)}.${write(c, one)}.${write(d, two)}`, `[::ffff:127.${b}.${c}.${d}]`);
      for (const host of spellings) assert.equal(checkHost(host, 443, strict).ok, false, host);
    }),
    { numRuns: 1000 },
  );
});

test('malformed settings are refused when they are parsed', () => {
  assert.throws(() => egressSettings({ privateAllowlist: [{ cidr: '10.0.0.0/99' }] }), TypeError);
  assert.throws(() => egressSettings({ denylist: ['everything'] }), TypeError);
  assert.throws(() => egressSettings({ ownHosts: ['https://a.example'] }), TypeError);
});
