import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import test from 'node:test';
import { parseNetworks } from '#server/platform/http-out/networks.ts';
import { networkOf, requestOrigin } from './client-address.ts';

const request = (peer: string | undefined, headers: Record<string, string> = {}, socket: object = {}) =>
  ({ socket: { remoteAddress: peer, ...socket }, headers: { host: 'acme.example', ...headers } }) as unknown as IncomingMessage;
const trusted = parseNetworks(['10.0.0.0/8', '127.0.0.1', 'fd00::/8']);

test('without trusted proxies no header moves the address', () => {
  const req = request('203.0.113.9', {
    'x-forwarded-for': '1.1.1.1',
    'x-real-ip': '1.1.1.1',
    forwarded: 'for=1.1.1.1',
    'x-forwarded-proto': 'https',
  });
  assert.equal(requestOrigin(req, []).address, '203.0.113.9');
  assert.deepEqual(requestOrigin(req, trusted), { address: '203.0.113.9', proto: 'http', host: 'acme.example' });
});

test('behind trusted proxies the right-most stranger is the client, whatever stands left of it', () => {
  const from = (list: string, peer = '10.1.1.1') => requestOrigin(request(peer, { 'x-forwarded-for': list }), trusted).address;
  assert.equal(from('198.51.100.7'), '198.51.100.7');
  assert.equal(from('1.1.1.1, 198.51.100.7'), '198.51.100.7');
  assert.equal(from('1.1.1.1, 198.51.100.7, 10.9.9.9'), '198.51.100.7');
  assert.equal(from('127.0.0.1, 198.51.100.7,10.9.9.9 '), '198.51.100.7');
  assert.equal(from('198.51.100.7:5123'), '198.51.100.7');
  assert.equal(from('[2001:DB8::7]:443', '::ffff:10.0.0.2'), '2001:db8::7');
  assert.equal(from('2001:0db8:0::7'), '2001:db8::7');
  assert.equal(from('::ffff:198.51.100.7'), '198.51.100.7');
});

test('an entry nobody can read ends the search at the last proxy that could be trusted', () => {
  const from = (list: string) => requestOrigin(request('10.1.1.1', { 'x-forwarded-for': list }), trusted).address;
  assert.equal(from('1.1.1.1, unknown'), '10.1.1.1');
  assert.equal(from('1.1.1.1, unknown, 10.2.2.2'), '10.2.2.2');
  assert.equal(from(''), '10.1.1.1');
  assert.equal(from('127.1'), '10.1.1.1');
  assert.equal(from('10.2.2.2, 10.3.3.3'), '10.2.2.2');
});

test('protocol and host come from the nearest trusted proxy', () => {
  const headers = { 'x-forwarded-proto': 'http, HTTPS', 'x-forwarded-host': 'evil.test, acme.sallyport.example' };
  assert.deepEqual(requestOrigin(request('fd00::1', headers), trusted), {
    address: 'fd00::1',
    proto: 'https',
    host: 'acme.sallyport.example',
  });
  assert.equal(requestOrigin(request('10.0.0.1', { 'x-forwarded-proto': 'gopher' }), trusted).proto, 'http');
  assert.equal(requestOrigin(request('10.0.0.1', {}, { encrypted: true }), trusted).proto, 'https');
});

test('mapped peers are IPv4, and a peer that is gone is the empty address', () => {
  assert.equal(requestOrigin(request('::ffff:192.0.2.1'), []).address, '192.0.2.1');
  assert.equal(requestOrigin(request(undefined), trusted).address, '');
});

test('all addresses of one /64 are one stranger where attempts are counted, and neighbours are others', () => {
  assert.equal(networkOf('2001:db8::1'), networkOf('2001:db8:0:0:ffff:1:2:3'));
  assert.notEqual(networkOf('2001:db8::1'), networkOf('2001:db8:0:1::1'));
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1');
  assert.equal(networkOf(''), '');
});

test('empty entries, such as that of a trailing comma, count for nothing in any of the lists (RFC 9110 §5.6.1)', () => {
  for (const list of ['198.51.100.7,', ' ,198.51.100.7 , ,', '1.1.1.1,,198.51.100.7,\t,10.9.9.9,,'])
    assert.equal(requestOrigin(request('10.1.1.1', { 'x-forwarded-for': list }), trusted).address, '198.51.100.7', list);
  const headers = { 'x-forwarded-proto': 'http, https, ,', 'x-forwarded-host': 'evil.test, acme.sallyport.example,' };
  const { proto, host } = requestOrigin(request('10.1.1.1', headers), trusted);
  assert.deepEqual([proto, host], ['https', 'acme.sallyport.example']);
  assert.equal(requestOrigin(request('10.1.1.1', { 'x-forwarded-for': ' , ,' }), trusted).address, '10.1.1.1');
});
