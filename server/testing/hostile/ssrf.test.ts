import assert from 'node:assert/strict';
import net from 'node:net';
import test, { after } from 'node:test';
import { ask, makeRoute, served, startGateway, startUpstream } from '#server/gateway/gateway.fixture.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { PRIVATE_OPENED_BY } from '#server/platform/http-out/target-url.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '../calls.ts';
import { testDatabase } from '../database.ts';
import { workspace } from '../workspace.ts';

/**
 * A caller-given URL never makes this service talk to its own inside: refused when it is saved, and refused again on the call, for rows that came
 * another way and for addresses that only variables make. One loopback address is allowed here, as a self-hosted operator may, and no other.
 * (Names whose DNS answer changes between both are tried beside the resolver, which is the only one to ask.)
 */
await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.1/32', UPSTREAM_DENYLIST: '198.51.100.0/24', LOG_LEVEL: 'silent' });
const running = await startGateway();
const w = await workspace();
const { text: key } = await w.key('live');

/** Something inside that must never be reached: it listens on every address of this machine but the allowed one's port. */
let reached = 0;
const inside = net.createServer((socket) => {
  reached++;
  socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ninside');
});
await new Promise<void>((listening) => inside.listen(0, '127.0.0.2', listening));
after(() => inside.close());
const { port: insidePort } = inside.address() as net.AddressInfo;

const HOSTS = [
  // loopback that was not allowed, in every spelling
  ...[
    '127.0.0.2',
    '127.1',
    '127.0.1',
    '2130706434',
    '0x7f000002',
    '0x7f.0.0.2',
    '0177.0.0.2',
    '0177.1',
    '127.0.0.2.',
    '127.000.000.002',
    '①②⑦.⓪.⓪.②',
    '１２７.0.0.2',
  ],
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.2]',
    '[::ffff:7f00:2]',
    '[::127.0.0.2]',
    '[64:ff9b::7f00:2]',
    '[64:ff9b:1::7f00:2]',
    '[2002:7f00:2::]',
    '[::1%25lo]',
  ],
  // this network, private networks, carriers, links, tests, documentation, multicast, the future
  ...[
    '0.0.0.0',
    '0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '[::ffff:a9fe:a9fe]',
  ],
  ...[
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
  ],
  ...[
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[100::1]',
    '[2001::1]',
    '[2001:db8::1]',
    '[5f00::1]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
  ],
  // names of metadata services
  ...['metadata.google.internal', 'metadata.goog', 'metadata', 'instance-data', 'instance-data.ec2.internal'],
  ...[
    'foo@127.0.0.2',
    'api.example.com:x@127.0.0.2',
    '127.0.0.2#@api.example.com',
    '127.0.0.2\\@api.example.com',
    '127.0.0.2\t',
    '127.0.0.2\n',
    'api.example.com@[::1]',
  ],
  ...[
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(130)}com`,
    '-',
    '.',
    '..',
    '',
    ' ',
    '*',
    'a..b',
    '%31%32%37.0.0.2',
    '127。0。0。2',
    '[',
    ']',
    '[]',
    '[::1',
    '127.0.0.2:x',
  ],
];
/** An operator who allows an address may name it: these are accepted and judged by their addresses on every call. */
const LOCAL_NAMES = [
  'x.internal',
  'printer.local',
  'router.lan',
  'host.docker.internal',
  'localhost.localdomain',
  'kubernetes.default.svc',
];
const URLS = [
  ...HOSTS.flatMap((host) => [`https://${host}/`, `http://${host}:${insidePort}/`]),
  ...['gopher', 'file', 'ftp', 'data', 'ws', 'wss', 'javascript', 'unix', 'jar:http', 'HTTPS\u017f', 'blob:https'].map(
    (scheme) => `${scheme}://127.0.0.2:${insidePort}/`,
  ),
  ...[0, 22, 23, 25, 110, 139, 445, 465, 587, 2375, 3306, 5432, 6379, 9200, 11211, 27017, 65536, -1].map(
    (port) => `https://api.example.com:${port}/`,
  ),
  ...[4000, 4001, 4002, 4003].map((port) => `http://127.0.0.1:${port}/`), // our own planes, on an address that is allowed
  ...[
    '//127.0.0.2/',
    '/etc/passwd',
    '127.0.0.2',
    'https:127.0.0.2',
    'https:/127.0.0.2/',
    'https:///127.0.0.2/',
    'https://',
    'http://acme.localhost:4003/',
    ' https://127.0.0.2/',
  ],
];

const written = async () =>
  (
    await sql().query(
      'select (select count(*) from audit_logs where tenant_id = $1) as audits, (select count(*) from routes where tenant_id = $1) as routes',
      [w.tenant.id],
    )
  ).rows[0];

test('an inside address is refused in every spelling, at every place that takes a URL, and nothing is written', async () => {
  const allowed = await call('POST', '/routes', { key, body: { name: 'good', target_base_url: 'http://127.0.0.1:9/' } });
  assert.equal(allowed.status, 201, allowed.text);
  const { id } = allowed.body.data;
  const collection = await call('POST', '/collections', { key, body: { name: 'c' } });
  const before = await written();
  for (const url of new Set(URLS)) {
    const writes = [
      await call('POST', '/routes', { key, body: { name: 'bad', target_base_url: url } }),
      await call('PATCH', `/routes/${id}`, { key, body: { target_base_url: url } }),
      await call('PUT', `/routes/${id}/environments/production`, { key, body: { target_base_url: url } }),
      await call('PUT', `/collections/${collection.body.data.id}/environment-defaults`, {
        key,
        body: { expected_environments: ['production'], environments: [{ environment_name: 'production', base_url: url }] },
      }),
    ];
    for (const [i, answer] of writes.entries()) {
      assert.deepEqual(
        [answer.status, answer.body.error?.type],
        [400, 'validation_error'],
        `${JSON.stringify(url)} by write ${i}: ${answer.text}`,
      );
      assert.doesNotMatch(
        answer.body.error.message.replace(PRIVATE_OPENED_BY, ''),
        /loopback|private|metadata|ECONN|range|10\.0|169\.254/i,
        'the refusal does not describe the inside',
      );
    }
  }
  assert.deepEqual(await written(), before);
  assert.equal(reached, 0);
});

test('a route whose row names an inside address all the same is refused on the call, with the same words for every address', async () => {
  const words = new Set<string>();
  for (const [i, host] of [...HOSTS, ...LOCAL_NAMES].entries()) {
    if (!/^[\x21-\x7e]+$/.test(host)) continue;
    for (const url of [`http://${host}:${insidePort}`, `https://${host}`]) {
      const slug = `row-${i}-${url.length}`;
      await makeRoute(w, slug, url);
      await served(running, w);
      const answer = await ask(running.port, w.tenant.slug, `/${slug}/latest/meta-data`, { key });
      assert.equal(answer.headers['x-svc-origin'], 'service', `${url}: ${answer.status} ${answer.body}`);
      assert.ok([403, 424, 502].includes(answer.status), `${url}: ${answer.status} ${answer.body}`);
      if (answer.status === 403)
        words.add(JSON.stringify((JSON.parse(answer.body) as { error: { message: string } }).error.message).replace(/host \S+/, 'host X'));
      await db().routes.deleteMany({ where: { tenant_id: w.tenant.id, slug } });
    }
  }
  assert.equal(words.size, 1, [...words].join('\n'));
  assert.equal(reached, 0);
});

test('variables cannot turn a target inwards on the call, whatever they held when it was saved', async () => {
  const scope = { tenant_id: w.tenant.id, sandbox: false };
  const collection = await db().collections.create({ data: { id: newId(), ...scope, name: 'vars', slug: 'vars' } });
  const good = await startUpstream();
  const variable = await db().collection_variables.create({
    data: { id: newId(), ...scope, collection_id: collection.id, key: 'h', value: '127.0.0.1' },
  });
  await makeRoute(w, 'by-variable', `http://{{var:h}}:${good.port}`, {}, { collectionId: collection.id });
  await makeRoute(w, 'by-label', `http://{{var:h}}.example.com:${good.port}`, {}, { collectionId: collection.id });
  await makeRoute(w, 'by-path', `${good.url}/base/{{var:h}}`, {}, { collectionId: collection.id });
  await served(running, w);
  assert.equal((await ask(running.port, w.tenant.slug, '/by-variable/x', { key })).status, 200);
  const hostile = [
    '127.0.0.2',
    '[::1]',
    '0',
    '2130706434',
    '0x7f.2',
    'foo@127.0.0.2',
    '127.0.0.2/',
    '127.0.0.2/?',
    '127.0.0.2#',
    '127.0.0.2\\',
    '127.0.0.2:80',
    '',
    ' ',
    '..',
    '../..',
    '%2e%2e',
    'a\r\nHost: x',
    '{{var:h}}',
    '{{secret:X}}',
  ];
  for (const value of hostile) {
    await db().collection_variables.update({ where: { id: variable.id }, data: { value } });
    await served(running, w);
    for (const route of ['by-variable', 'by-label', 'by-path']) {
      const before = good.seen.length;
      const answer = await ask(running.port, w.tenant.slug, `/${route}/x`, { key });
      if (answer.headers['x-svc-origin'] === 'upstream') {
        assert.equal(route, 'by-path', `${route} with ${JSON.stringify(value)}`);
        assert.match(good.seen.at(-1)?.url ?? '', /^\/base\/[^?#]/, `below its base with ${JSON.stringify(value)}`);
        assert.doesNotMatch(decodeURIComponent(good.seen.at(-1)?.url ?? ''), /(^|\/)\.\.?(\/|$)/, JSON.stringify(value));
      } else {
        assert.ok([403, 424, 502].includes(answer.status), `${route} with ${JSON.stringify(value)}: ${answer.status} ${answer.body}`);
        assert.equal(good.seen.length, before);
      }
    }
  }
  assert.equal(reached, 0);
});

test('a redirect of an upstream goes back to the caller and is followed by nobody', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    const upstream = await startUpstream((_, res) => void res.writeHead(status, { location: `http://127.0.0.2:${insidePort}/` }).end());
    await makeRoute(w, `moved-${status}`, upstream.url);
    await served(running, w);
    const answer = await ask(running.port, w.tenant.slug, `/moved-${status}/x`, { key, method: 'POST', body: '{}' });
    assert.deepEqual([answer.status, answer.headers['x-svc-origin'], upstream.seen.length], [status, 'upstream', 1]);
  }
  assert.equal(reached, 0);
});

test('no header or target of a call chooses another upstream', async () => {
  const upstream = await startUpstream();
  await makeRoute(w, 'fixed', `${upstream.url}/base`);
  await served(running, w);
  const other = `127.0.0.2:${insidePort}`;
  const names = [
    'x-forwarded-host',
    'x-forwarded-server',
    'x-original-url',
    'x-rewrite-url',
    'x-host',
    'forwarded',
    'x-real-ip',
    'proxy',
    'x-svc-upstream',
    'x-svc-target',
    'upstream',
    ':authority',
  ];
  for (const name of names.filter((n) => !n.startsWith(':'))) {
    const answer = await ask(running.port, w.tenant.slug, '/fixed/x', {
      key,
      headers: { [name]: name === 'forwarded' ? `host=${other}` : `http://${other}/` },
    });
    assert.equal(answer.headers['x-svc-origin'], 'upstream', name);
  }
  for (const path of [
    `/fixed//${other}/`,
    `/fixed/http://${other}/`,
    `/fixed/@${other}`,
    `/fixed@${other}/`,
    `/fixed:${insidePort}/`,
    `/fixed/\\${other}`,
    `/fixed?url=http://${other}`,
  ]) {
    await ask(running.port, w.tenant.slug, path, { key }).catch(() => null);
    if (upstream.seen.length > 0) assert.match(upstream.seen.at(-1)?.url ?? '', /^\/base/, path);
  }
  assert.ok(upstream.seen.every((seen) => seen.headers.host === upstream.url.slice('http://'.length)));
  assert.equal(reached, 0);
});
