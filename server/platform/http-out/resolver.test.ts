import assert from 'node:assert/strict';
import test from 'node:test';
import { createResolver, type ResolveFamily } from './resolver.ts';
import { egressSettings } from './settings.ts';

const PUBLIC = '93.184.216.34';
const v4 =
  (answers: () => string[], ttl = 30): ResolveFamily =>
  async (_, family) =>
    family === 4 ? answers().map((address) => ({ address, ttl })) : Promise.reject(new Error('ENODATA'));

test('one refused address among good ones refuses the host', async () => {
  for (const inside of ['10.0.0.1', '169.254.169.254', '::1', '::ffff:10.0.0.1', 'fd00::1', '0.0.0.0']) {
    const resolve: ResolveFamily = async (_, family) => (family === 4 ? [{ address: PUBLIC, ttl: 30 }] : [{ address: inside, ttl: 30 }]);
    const lookup = await createResolver({ settings: egressSettings(), resolve }).lookup('two.example', 443);
    assert.equal(lookup.ok, false, inside);
    assert.ok(!lookup.ok && lookup.reason === 'blocked' && !lookup.message.includes(inside));
  }
});

test('an answer that changes to an inside address is refused once the old one has expired (rebinding)', async () => {
  const answers = [[PUBLIC], ['127.0.0.1'], [PUBLIC]];
  let clock = 0;
  const resolver = createResolver({ settings: egressSettings(), resolve: v4(() => answers.shift() ?? [], 5), now: () => clock });
  assert.equal((await resolver.lookup('rebind.example', 443)).ok, true);
  clock = 4_000;
  assert.equal((await resolver.lookup('rebind.example', 443)).ok, true, 'the judged answer is the one that is used');
  clock = 6_000;
  assert.equal((await resolver.lookup('rebind.example', 443)).ok, false);
  clock = 12_000;
  assert.equal((await resolver.lookup('rebind.example', 443)).ok, true);
});

test('answers live at most 60 s, and parallel questions are asked once', async () => {
  let asked = 0;
  let clock = 0;
  const resolver = createResolver({
    settings: egressSettings(),
    now: () => clock,
    resolve: v4(() => {
      asked += 1;
      return [PUBLIC];
    }, 86_400),
  });
  await Promise.all(Array.from({ length: 20 }, () => resolver.lookup('a.example', 443)));
  assert.equal(asked, 1);
  clock = 59_000;
  await resolver.lookup('A.example.', 443);
  assert.equal(asked, 1);
  clock = 61_000;
  await resolver.lookup('a.example', 443);
  assert.equal(asked, 2);
});

test('a resolver that never answers is given up after the limit, and the name may come back later', async () => {
  let aborted = false;
  let silent = true;
  const resolve: ResolveFamily = (_, __, signal) => {
    if (!silent) return Promise.resolve([{ address: PUBLIC, ttl: 5 }]);
    return new Promise(() => signal.addEventListener('abort', () => (aborted = true)));
  };
  let clock = 0;
  const resolver = createResolver({ settings: egressSettings(), resolve, timeoutMs: 50, now: () => clock });
  const lookup = await resolver.lookup('slow.example', 443);
  assert.ok(!lookup.ok && lookup.reason === 'unresolvable');
  assert.ok(aborted);
  silent = false;
  clock = 3_000;
  assert.ok((await resolver.lookup('slow.example', 443)).ok);
});

test('localhost is never asked of DNS and gives only the loopback addresses that were allowed', async () => {
  const resolve: ResolveFamily = () => assert.fail('asked DNS');
  const closed = createResolver({ settings: egressSettings(), resolve });
  assert.equal((await closed.lookup('localhost', 80)).ok, false);
  const open = createResolver({ settings: egressSettings({ privateAllowlist: [{ cidr: '127.0.0.0/8' }] }), resolve });
  assert.deepEqual(await open.lookup('localhost', 80), {
    ok: true,
    addresses: [{ address: '127.0.0.1', port: 80 }],
    exempt: true,
    judged: true,
  });
  assert.equal((await open.lookup('api.localhost', 80)).ok, true);
});

test('an inside name is only good when all its addresses were allowed', async () => {
  const settings = egressSettings({ privateAllowlist: [{ cidr: '10.0.0.0/8' }] });
  assert.equal((await createResolver({ settings, resolve: v4(() => ['10.0.0.1']) }).lookup('db.internal', 443)).ok, true);
  assert.equal((await createResolver({ settings, resolve: v4(() => [PUBLIC]) }).lookup('db.internal', 443)).ok, false);
  assert.equal((await createResolver({ settings, resolve: v4(() => ['192.168.0.1']) }).lookup('db.internal', 443)).ok, false);
});

test('test hosts and operator origins are pinned exactly by name and port', async () => {
  const resolve: ResolveFamily = async () => Promise.reject(new Error('ENOTFOUND'));
  const testHosts = [{ name: 'api.stripe.test', port: 443, address: '127.0.0.1', address_port: 9443 }];
  const mapped = createResolver({ settings: egressSettings({ testHosts }), resolve });
  assert.deepEqual(await mapped.lookup('api.stripe.test', 443), {
    ok: true,
    addresses: [{ address: '127.0.0.1', port: 9443 }],
    exempt: false,
    judged: false,
  });
  assert.equal((await mapped.lookup('api.stripe.test', 8443)).ok, false);
  assert.equal((await mapped.lookup('127.0.0.1', 9443)).ok, false);

  const settings = egressSettings({ operatorOrigins: ['http://localhost:4010'], ownHosts: ['localhost:4010'], ownPorts: [4010] });
  const operator = createResolver({ settings, resolve });
  assert.ok((await operator.lookup('localhost', 4010)).ok);
  assert.equal((await operator.lookup('localhost', 4011)).ok, false);
  assert.equal((await operator.lookup('127.0.0.1', 4010)).ok, false);
});

test('a name that DNS would answer as an address text is judged like one', async () => {
  const resolver = createResolver({ settings: egressSettings(), resolve: v4(() => ['not-an-address']) });
  assert.equal((await resolver.lookup('odd.example', 443)).ok, false);
});
