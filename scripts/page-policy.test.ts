import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

// Next reads the matcher from the text of the file, and so does this test: the module itself can only be loaded inside Next.
const [, pattern] = /matcher: \[\s*'(.+)',?\s*\]/.exec(readFileSync(new URL('../proxy.ts', import.meta.url), 'utf8')) ?? [];
assert.ok(pattern);
const matcher = new RegExp(`^${pattern.replaceAll('\\\\', '\\')}$`);
const matched = (path: string) => matcher.test(path);

test('no spelling of a page address gets the page without its security headers', () => {
  for (const end of ['', '.json', '.svg', '.png', '.ico', '.mjs', '.txt', '.woff2'])
    for (const page of [
      '/acme/live/routes/x',
      '/acme/test/secrets/x',
      '/acme/settings/x',
      '/me/x',
      '/oauth/consent/x',
      '/oauth/device/x',
      '/a/b/c/d',
    ])
      assert.ok(matched(`${page}${end}`), `${page}${end}`);
});

test('static files and the API planes keep their own headers', () => {
  for (const path of [
    '/icon.svg',
    '/openapi.json',
    '/_next/static/chunks/a.js',
    '/admin/trpc/routes.list',
    '/auth/me',
    '/v1/routes',
    '/oauth/token',
  ])
    assert.ok(!matched(path), path);
});
