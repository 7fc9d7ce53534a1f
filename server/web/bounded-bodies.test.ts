import assert from 'node:assert/strict';
import test from 'node:test';
import { personOperations, v1Operations } from '#server/api/operations.ts';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { env } from '#server/platform/env.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { testDatabase } from '#server/testing/database.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { workspace } from '#server/testing/workspace.ts';
import { loadRoutes } from './routes.ts';

// What anybody may send to the web process, at its worst: every plane that reads a body, before and after it knows who sent it.

await testDatabase();
const routeOf = await loadRoutes('app');
const w = await workspace();
const { text: key } = await w.key();

const KIB = 1024;
const list = (entry: string, size: number) => `{"a":[${`${entry},`.repeat((size - 20) / (entry.length + 1))}1]}`;
const names = (size: number) => `{${Array.from({ length: size / 10 }, (_, i) => `"${i.toString(36)}":1`).join(',')}}`;
const distinct = (size: number, count: number) =>
  `{${Array.from({ length: count }, (_, i) => `"${i.toString(36).padStart(Math.floor(size / count) - 6, 'k')}":1`).join(',')}}`;
const JSON_SHAPES: [what: string, of: (size: number) => string][] = [
  ['brackets', (size) => '['.repeat(size)],
  ['nested lists', (size) => `{"a":${'['.repeat(size / 2 - 10)}${']'.repeat(size / 2 - 10)}}`],
  ['empty lists', (size) => list('[]', size)],
  ['numbers', (size) => list('1', size)],
  ['objects', (size) => list('{"a":1}', size)],
  ['names', names],
  ['as many names as may be', (size) => distinct(size, Math.min(49_990, Math.floor(size / 20)))],
  ['lists sixty deep', (size) => list('['.repeat(60) + ']'.repeat(60), size)],
];
const FORM_SHAPES: typeof JSON_SHAPES = [
  ['ampersands', (size) => '&'.repeat(size)],
  ['names', (size) => Array.from({ length: size / 10 }, (_, i) => `${i.toString(36)}=1`).join('&')],
];
const FORM = 'application/x-www-form-urlencoded';
const SHAPES = new Map([
  ['application/json', JSON_SHAPES],
  ['application/scim+json', JSON_SHAPES],
  ['application/jose+json', JSON_SHAPES],
  [FORM, FORM_SHAPES],
]);

const admin = new URL(env.PUBLIC_ADMIN_URL);
async function post(path: string, type: string, body: string, headers: Record<string, string>) {
  const { handlers, params } = routeOf(path) ?? assert.fail(path);
  const sent = new Request(new URL(path, admin), {
    method: 'POST',
    body,
    headers: {
      'x-sallyport-front': frontDoorToken(rootKeys().current),
      'x-sallyport-ip': '203.0.113.7',
      host: admin.host,
      // No page of a browser may call this one.
      ...(path.startsWith('/v1/mcp') ? {} : { origin: admin.origin }),
      'content-type': type,
      ...headers,
    },
  });
  const answer = await Promise.resolve(handlers.POST?.(sent, { params: Promise.resolve(params) }));
  return { status: answer?.status ?? 0, text: (await answer?.text()) ?? '' };
}

type Reader = [path: string, type: string, size: number, headers?: Record<string, string>];
const withKey = { authorization: `Bearer ${key}` };
const pathOf = (http: string) => http.slice('POST '.length).replaceAll(/\{\w+\}/g, 'some');
const visitors = personOperations.filter(({ http, needs, takes }) => http.startsWith('POST ') && needs !== 'session' && !takes);
const READERS: Reader[] = [
  ...visitors.map(({ http, foreignForm }): Reader => [pathOf(http), foreignForm ? FORM : 'application/json', 256 * KIB]),
  ...v1Operations
    .filter(({ http, needs, body }) => http.startsWith('POST ') && (needs === 'anonymous' || (body?.limit ?? 0) > KIB * KIB))
    .map(({ http, body }): Reader => [`/v1${pathOf(http)}`, 'application/json', body?.limit ?? KIB * KIB, withKey]),
  ['/api/auth/signout', 'application/json', 16 * KIB],
  ['/api/auth/signout', FORM, 16 * KIB],
  ['/auth/magic', FORM, 256 * KIB],
  ['/auth/email', FORM, 256 * KIB],
  ['/oauth/token', FORM, 64 * KIB],
  ['/v1/oauth/token', 'application/json', 64 * KIB],
  ['/admin/trpc/environments.create', 'application/json', KIB * KIB],
  ['/v1/mcp/sallyport', 'application/json', KIB * KIB, withKey],
  ['/scim/v2/Users', 'application/scim+json', KIB * KIB],
  ['/admin/billing/webhook', 'application/json', KIB * KIB],
];

for (const [path, type, size, headers = {}] of READERS)
  test(`POST ${path} (${type}) reads no body that costs more than it says`, async () => {
    await post(path, type, type === FORM ? 'a=1' : '{}', headers); // the first request loads what answers it
    for (const [what, of] of SHAPES.get(type) ?? []) {
      const body = of(size);
      assert.ok(body.length <= size && body.length > size / 2, `${what}: ${body.length}`);
      const { status, text } = await neverBlocks(() => post(path, type, body, headers));
      assert.ok(status >= 200 && status < 500, `${what}: ${status} ${text.slice(0, 300)}`);
    }
  });

test('a body is refused with what is over: levels, values or fields', async () => {
  const [level, value, field] = [/nested deeper than 7[23] levels/, /more than 50,000 members and list entries/, /more than 200 fields/];
  const refused = async (path: string, body: string, words: RegExp, type = 'application/json', headers = {}) => {
    const { status, text } = await post(path, type, body, headers);
    assert.deepEqual([status, words.test(text)], [400, true], `${path}: ${status} ${text.slice(0, 300)}`);
  };
  for (const path of ['/auth/login', '/v1/signup', '/admin/trpc/environments.create', '/v1/mcp/sallyport']) {
    const headers = path.startsWith('/v1/mcp') ? withKey : {};
    await refused(path, `{"a":${'['.repeat(74)}${']'.repeat(74)}}`, level, 'application/json', headers);
    await refused(path, list('1', 120 * KIB), value, 'application/json', headers);
  }
  for (const path of ['/auth/magic', '/oauth/token', '/api/auth/signout']) await refused(path, '&'.repeat(200), field, FORM);
});
