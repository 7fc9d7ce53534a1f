import assert from 'node:assert/strict';
import test from 'node:test';
import { createResolver } from '#server/platform/http-out/resolver.ts';
import { createUpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';

// Where calls of routes may go, judged at the call: a route is saved long before, and names move.

await testDatabase();
const running = await startGateway();
const w = await workspace();
const { text: key } = await w.key();
const call = (slug: string) => ask(running.port, w.tenant.slug, `/${slug}`, { key });

test('a redirect to an inside address is the answer, and nobody follows it', async () => {
  const location = 'http://169.254.169.254/latest/meta-data';
  const upstream = await startUpstream((_, res) => res.writeHead(302, { location }).end());
  await makeRoute(w, 'moved', upstream.url);
  await served(running, w);
  const answer = await call('moved');
  assert.deepEqual([answer.status, answer.headers.location, answer.headers['x-svc-origin']], [302, location, 'upstream']);
  assert.equal(upstream.seen.length, 1);
});

test('inside addresses are refused at the call in every spelling that a row may hold', async () => {
  const hosts = [
    '10.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '[::ffff:10.0.0.1]',
    '[64:ff9b::a00:1]',
    '[2002:a00:1::]',
    '[fd00::1]',
    '[fe80::1]',
  ];
  for (const [i, host] of hosts.entries()) await makeRoute(w, `inside-${i}`, `https://${host}`);
  await served(running, w);
  for (const [i, host] of hosts.entries()) {
    const answer = await call(`inside-${i}`);
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [403, 'upstream_not_allowed'], host);
  }
});

test('a name that moves inside after the route was saved is refused, and so is one with an inside address among its answers', async () => {
  const { runtime } = running;
  const before = { resolver: runtime.resolver, pools: runtime.pools };
  const answers: Record<string, string[]> = {
    'moved.example.net': ['192.168.0.1'],
    'mixed.example.net': ['203.0.114.7', '169.254.169.254'],
  };
  const resolver = createResolver({
    settings: { ...runtime.resolver.settings, privateAllow: [] },
    resolve: async (host, family) => (family === 6 ? [] : (answers[host] ?? [])).map((address) => ({ address, ttl: 60 })),
  });
  runtime.resolver = resolver;
  runtime.pools = createUpstreamPools({ resolver, connectTimeoutMs: 300 });
  try {
    await makeRoute(w, 'moved-name', 'https://moved.example.net');
    await makeRoute(w, 'mixed-name', 'https://mixed.example.net');
    await served(running, w);
    for (const slug of ['moved-name', 'mixed-name']) {
      const answer = await call(slug);
      assert.deepEqual([answer.status, answer.headers['x-svc-error']], [403, 'upstream_not_allowed'], slug);
      assert.doesNotMatch(answer.body, /\d+\.\d+\.\d+\.\d+/, 'no address is told');
    }
  } finally {
    await runtime.pools.close();
    Object.assign(runtime, before);
  }
});
