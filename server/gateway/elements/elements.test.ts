import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { sealerOf } from '#server/custody/portable.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { storedKey } from '#server/testing/stored-keys.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startGateway } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
const ports = {
  api: (await running.gateway.listen('api', 0, '127.0.0.1')).port,
  sandbox: (await running.gateway.listen('sandbox', 0, '127.0.0.1')).port,
};
const SHOP = 'https://shop.example.com';
const OTHER = 'https://evil.example.com';

type Got = { status: number; headers: Record<string, string>; body: Buffer };

function get(target: string, { plane = 'api' as keyof typeof ports, method = 'GET', headers = {} } = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: ports[plane], path: target, method, headers: { host: 'localhost', ...headers }, agent: false },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers as Record<string, string>, body: Buffer.concat(chunks) }),
        );
      },
    );
    sent.on('error', reject).end();
  });
}

const cardOf = (workspace: string, origin: string) => `/elements/v1/card?${new URLSearchParams({ workspace, origin })}`;
const directives = ({ headers }: Got) =>
  Object.fromEntries((headers['content-security-policy'] ?? '').split('; ').map((part) => [part.split(' ')[0], part.split(' ').slice(1)]));

async function registered(origins: string[], sandbox = false) {
  const w = await workspace();
  await db().element_settings.create({ data: { tenant_id: w.tenant.id, sandbox, origins } });
  await running.runtime.snapshots.refresh(w.tenant.id);
  return w;
}

test('serves the library to every origin, kept for a year by its version, with the integrity of its bytes', async () => {
  const plain = await get('/elements/v1/seal.js');
  assert.equal(plain.status, 200);
  assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');
  assert.equal(plain.headers['access-control-allow-origin'], '*');
  assert.equal(plain.headers['cross-origin-resource-policy'], 'cross-origin');
  assert.equal(plain.headers['x-content-type-options'], 'nosniff');
  assert.equal(plain.headers['cache-control'], 'public, max-age=300, must-revalidate');
  assert.match(plain.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/);
  const version = (plain.headers.etag ?? '').slice(1, -1);
  assert.ok(
    createHash('sha384')
      .update(plain.body)
      .digest('base64')
      .replace(/[^A-Za-z0-9]/g, '')
      .startsWith(version),
  );
  assert.match((await get(`/elements/v1/seal.js?v=${version}`)).headers['cache-control'] ?? '', /max-age=31536000, immutable/);
  assert.doesNotMatch((await get('/elements/v1/seal.js?v=older')).headers['cache-control'] ?? '', /immutable/);
  const again = await get('/elements/v1/seal.js', { headers: { 'if-none-match': `W/"${version}"` } });
  assert.deepEqual([again.status, again.body.length], [304, 0]);
  const small = await get('/elements/v1/seal.js', { headers: { 'accept-encoding': 'br' } });
  assert.equal(small.headers['content-encoding'], 'br');
  assert.deepEqual(brotliDecompressSync(small.body), plain.body);
  assert.ok(small.body.length < 8_000);
  const head = await get('/elements/v1/seal.js', { method: 'HEAD' });
  assert.deepEqual([head.body.length, head.headers['content-length']], [0, String(plain.body.length)]);
});

test('shows a field to the pages that its workspace registered, by the policy of interface rule 41 §13', async () => {
  const w = await registered([SHOP, 'https://two.example.com']);
  for (const named of [w.tenant.id, w.tenant.slug]) {
    const page = await get(cardOf(named, SHOP));
    assert.equal(page.status, 200);
    assert.equal(page.headers['cache-control'], 'no-store');
    const policy = directives(page);
    const nonce = /nonce="([\w-]+)"/.exec(page.body.toString())?.[1];
    assert.deepEqual(policy, {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'connect-src': [env.PUBLIC_API_URL],
      'style-src': ["'self'", `'nonce-${nonce}'`],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': [SHOP, 'https://two.example.com'],
    });
    assert.match(page.body.toString(), new RegExp(`<meta name="svc-parent" content="${SHOP}">`));
    assert.doesNotMatch(page.body.toString(), /<input[^>]* name=/, 'a form without its script sends nothing');
  }
  const [one, two] = await Promise.all([get(cardOf(w.tenant.id, SHOP)), get(cardOf(w.tenant.id, SHOP))]);
  assert.notDeepEqual(directives(one)['style-src'], directives(two)['style-src'], 'a nonce is used once');
  assert.equal((await get(`/elements/v1/reveal?workspace=${w.tenant.slug}&origin=${SHOP}`)).status, 200);
});

/** What the service wrote into a field's document. */
const metaOf = ({ body }: Got, name: string) =>
  new RegExp(`<meta name="${name}" content="([^"]*)">`).exec(body.toString())?.[1]?.replaceAll('&quot;', '"');
const sealingFor = (workspace: string, key: string) => `${cardOf(workspace, SHOP)}&${new URLSearchParams({ key })}`;

test("a field's document has the public key of its own workspace and space, which no page can choose", async () => {
  for (const space of ['live', 'test'] as const) {
    const w = await registered([SHOP], space === 'test');
    const other = await registered([SHOP], space === 'test');
    const plane = space === 'test' ? 'sandbox' : 'api';
    const { bundle } = await sealerOf(w[space]);
    const named = await storedKey(w[space], { key_type: 'ecdh-p256', versions: 2 });
    const foreign = await storedKey(other[space], { key_type: 'ecdh-p256', versions: 1 });
    const elsewhere = await storedKey(w[space === 'test' ? 'live' : 'test'], { key_type: 'ecdh-p256', versions: 1 });
    const signing = await storedKey(w[space], { key_type: 'ed25519', versions: 1 });
    for (const [workspace, key] of [
      [w.tenant.id, 'kc-default'],
      [w.tenant.slug, bundle.key_ref.app_key_id],
      [w.tenant.id, null], // the library of an earlier release, which names none
    ] as const) {
      const page = await get(key === null ? `${cardOf(workspace, SHOP)}&keeps=name` : sealingFor(workspace, key), { plane });
      assert.deepEqual(JSON.parse(metaOf(page, 'svc-bundle') ?? ''), bundle);
      assert.equal(metaOf(page, 'svc-workspace'), w.tenant.id);
    }
    const own = await get(sealingFor(w.tenant.id, named.name), { plane });
    assert.deepEqual(JSON.parse(metaOf(own, 'svc-bundle') ?? '').key_ref, {
      tenant_id: w.tenant.id,
      app_key_id: named.id,
      key_version: 2,
    });
    const bodies = new Set<string>();
    for (const key of [foreign.id, elsewhere.id, signing.id, signing.name, 'no-such-key', '', '"><script>', JSON.stringify(bundle)]) {
      const refused = await get(sealingFor(w.tenant.id, key), { plane });
      assert.equal(refused.status, 404, key);
      bodies.add(refused.body.toString().replace(/nonce="[\w-]+"/, ''));
    }
    assert.equal(bodies.size, 1, 'one answer: a stranger learns of no key');
    const both = await get(`${sealingFor(w.tenant.id, named.name)}&keeps=name`, { plane });
    assert.equal(JSON.parse(metaOf(both, 'svc-bundle') ?? '').key_ref.app_key_id, named.id, 'a key that is named counts');
    for (const more of ['', '&keeps=']) {
      const vault = await get(`${cardOf(w.tenant.id, SHOP)}${more}`, { plane });
      assert.equal(metaOf(vault, 'svc-bundle'), '', 'without a key the field takes a client token');
    }
  }
});

test('a field for a workspace without a default key makes none', async () => {
  const w = await registered([SHOP]);
  const page = await get(sealingFor(w.tenant.id, 'kc-default'));
  assert.equal(page.status, 404);
  assert.match(page.body.toString(), /no such encryption key/);
  assert.equal(await db().crypto_keys.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('refuses unregistered pages, other spaces and unknown workspaces with one answer', async () => {
  const w = await registered([SHOP]);
  const foreign = await registered([OTHER]);
  const bodies = new Set<string>();
  const asked: [string, keyof typeof ports][] = [
    [cardOf(w.tenant.id, OTHER), 'api'],
    [cardOf(w.tenant.id, 'null'), 'api'],
    [cardOf(w.tenant.id, ''), 'api'],
    [cardOf(w.tenant.id, `${SHOP}/`), 'api'],
    [cardOf(w.tenant.id, `${SHOP}.evil.example`), 'api'],
    [cardOf(w.tenant.id, `"><script>alert(1)</script>`), 'api'],
    [cardOf(foreign.tenant.id, SHOP), 'api'],
    [cardOf('no-such-workspace', SHOP), 'api'],
    [cardOf('00000000-0000-7000-8000-000000000000', SHOP), 'api'],
    ['/elements/v1/card', 'api'],
    [cardOf(w.tenant.id, SHOP), 'sandbox'],
  ];
  for (const [target, plane] of asked) {
    const page = await get(target, { plane });
    assert.equal(page.status, 403, target);
    assert.deepEqual(directives(page)['frame-ancestors'], ["'none'"], target);
    bodies.add(page.body.toString().replace(/nonce="[\w-]+"/, ''));
  }
  assert.equal(bodies.size, 1);
});

test('keeps Live and Test apart, and connects each field to the API of its space', async () => {
  const w = await registered(['http://localhost:5173'], true);
  const page = await get(cardOf(w.tenant.id, 'http://localhost:5173'), { plane: 'sandbox' });
  assert.equal(page.status, 200);
  assert.deepEqual(directives(page)['connect-src'], [env.PUBLIC_SANDBOX_API_URL]);
  assert.equal((await get(cardOf(w.tenant.id, 'http://localhost:5173'))).status, 403);
});

test('hears of a new origin through the announcement', async () => {
  const w = await registered([SHOP]);
  await db().element_settings.update({
    where: { tenant_id_sandbox: { tenant_id: w.tenant.id, sandbox: false } },
    data: { origins: [OTHER] },
  });
  await until(async () => (await get(cardOf(w.tenant.id, OTHER))).status === 200);
  assert.equal((await get(cardOf(w.tenant.id, SHOP))).status, 403);
});

test('the dashboard may show fields of every workspace, alone', async () => {
  const w = await registered([SHOP]);
  const page = await get(cardOf(w.tenant.id, env.PUBLIC_ADMIN_URL));
  assert.deepEqual(directives(page)['frame-ancestors'], [env.PUBLIC_ADMIN_URL]);
});

test('answers other methods and paths in our words', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const answer = await get('/elements/v1/card', { method });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.allow, 'GET, HEAD');
  }
  for (const target of [
    '/elements/v1',
    '/elements/v1/other',
    '/elements/v1/fields.css',
    '/elements/v1/__proto__',
    '/elements/v1/../v1/card',
    '/elements/v2/card',
    '/elements/v1//card',
  ]) {
    const answer = await get(target);
    assert.equal(answer.status, 404, target);
    assert.equal(JSON.parse(answer.body.toString()).error.type, 'not_found');
  }
});
