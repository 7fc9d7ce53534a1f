import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { loadRoutes } from './routes.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-routes-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
for (const file of [
  'v1/[[...path]]/route.ts',
  'v1/oauth/token/route.ts',
  'oauth/[[...path]]/route.ts',
  'oauth/consent/[handle]/page.tsx',
  '(plain)/hooks/in/[label]/[name]/route.ts',
  'pub/[...path]/route.ts',
  '.well-known/[...path]/route.ts',
  '[workspace]/[space]/page.tsx',
]) {
  fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  fs.writeFileSync(path.join(folder, file), `export const GET = () => new Response(${JSON.stringify(file)});`);
}
const routeOf = await loadRoutes(folder);

/** The file that answers, and its parameters. */
async function found(pathname: string) {
  const route = routeOf(pathname);
  const answer = await Promise.resolve(route?.handlers.GET?.(new Request('http://localhost'), { params: Promise.resolve({}) }));
  return route && [await answer?.text(), route.params];
}

test('the most literal route answers a path', async () => {
  assert.deepEqual(await found('/v1/oauth/token'), ['v1/oauth/token/route.ts', {}]);
  assert.deepEqual(await found('/v1/oauth/tokens'), ['v1/[[...path]]/route.ts', { path: 'oauth/tokens' }]);
  assert.deepEqual(await found('/v1'), ['v1/[[...path]]/route.ts', { path: '' }]);
  assert.deepEqual(await found('/.well-known/jwks.json'), ['.well-known/[...path]/route.ts', { path: 'jwks.json' }]);
  assert.deepEqual(await found('/pub/a/b'), ['pub/[...path]/route.ts', { path: 'a/b' }]);
});

test('parameters are decoded, and folders in parentheses are no part of the path', async () => {
  assert.deepEqual(await found('/hooks/in/a%20b/c%2Fd'), ['(plain)/hooks/in/[label]/[name]/route.ts', { label: 'a b', name: 'c/d' }]);
});

test('a page, a path without a file and one that cannot be decoded are left to Next', async () => {
  for (const pathname of ['/oauth/consent/x', '/acme/live', '/', '/pub', '/v10', '/V1', '/%76%31', '/hooks/in/%zz/x', ''])
    assert.equal(await found(pathname), undefined, pathname);
});

test('every route handler of the dashboard loads outside of Next', async () => {
  const all = await loadRoutes('app');
  for (const file of fs.globSync('app/**/route.ts')) {
    const pathname = `/${path.relative('app', path.dirname(file)).replaceAll(/\[+(?:\.{3})?(\w+)\]+/g, 'some-$1')}`;
    const handlers = all(pathname)?.handlers ?? {};
    assert.ok(typeof handlers.GET === 'function' || typeof handlers.POST === 'function', pathname);
  }
});
