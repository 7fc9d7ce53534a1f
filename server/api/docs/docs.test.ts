import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { ERROR_CODES } from '#server/domain/webhooks/options.shared.ts';
import { EXECUTION_ERRORS } from '#server/domain/workflows/definition.shared.ts';
import { CODES } from '#server/gateway/core/refusal.ts';
import { ERROR_STATUS } from '#server/kernel/errors.ts';
import { elementFile } from '#server/platform/element-files.ts';
import { env } from '#server/platform/env.ts';
import { tagOf } from '../openapi/descriptions.ts';
import { v1Operations } from '../operations.ts';
import { docsPage, docsPages, docsPath } from './pages.ts';
import { docsIndex, docsMarkdown } from './texts.ts';

const PUBLIC = /^\/(docs|changelog|openapi\.json|llms\.txt|\.well-known)\b/;

test('every family of operations has a page with its reference', () => {
  const documented = new Set(docsPages().flatMap(({ tag }) => tag ?? []));
  assert.deepEqual(
    [...new Set(v1Operations.map(tagOf))].filter((tag) => !documented.has(tag)),
    [],
  );
  for (const op of v1Operations) {
    const page = docsPages().find(({ tag }) => tag === tagOf(op));
    assert.ok(page?.markdown.includes(`\n\`${op.http.replace(' ', ' /v1')}\`\n`), op.id);
  }
});

test('every operation that a page mentions exists', () => {
  const known = new Set(v1Operations.map((op) => op.http.replace(' ', ' /v1').replace(/\{\w+\}/g, '{}')));
  for (const { slug, markdown } of docsPages())
    for (const [, method, path = ''] of markdown.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/v1[^\s`]*)`/g))
      assert.ok(known.has(`${method} ${path.replace(/\{\w+\}/g, '{}')}`), `${slug}: ${method} ${path}`);
});

test('every link inside the documentation leads to a page and, with a hash, to a heading of it', () => {
  for (const { slug, markdown } of docsPages())
    for (const [, href = ''] of markdown.matchAll(/\]\((\/[^)]*|#[^)]*)\)/g)) {
      const [path = '', hash] = href.split('#');
      const page = path === '' ? docsPage(slug) : docsPages().find((one) => docsPath(one) === path);
      assert.ok(page || PUBLIC.test(path), `${slug}: ${href}`);
      if (page && hash) assert.ok(headings(page.markdown).includes(hash), `${slug}: ${href}`);
    }
});

test('each row of the threats names a test that is in the repository', () => {
  const { markdown } = docsPage('threats') ?? assert.fail('no threats page');
  const rows = markdown.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:---|Who attacks) /.test(line));
  assert.ok(rows.length > 30);
  for (const row of rows) {
    const named = [...(row.split(' | ').at(-1) ?? '').matchAll(/`((?:server|sdk|e2e)\/[^`]+)`/g)].map(([, file = '']) => file);
    assert.ok(named.length > 0, row);
    for (const file of named) assert.ok(existsSync(file), file);
  }
});

test('the limits name tests that are in the repository', () => {
  const markdown = readFileSync('docs/security/limits.md', 'utf8');
  for (const [, file = ''] of markdown.matchAll(/`((?:server|sdk|e2e)\/[^`]+\.(?:test|spec)\.ts)`/g)) assert.ok(existsSync(file), file);
});

test('the errors page explains every error type of the API and every code of the gateway', () => {
  const { markdown } = docsPage('errors') ?? assert.fail('no errors page');
  for (const type of Object.keys(ERROR_STATUS)) assert.ok(headings(markdown).includes(type), type);
  const gateway = markdown.slice(markdown.indexOf('## Gateway errors'));
  for (const [code, [status]] of Object.entries(CODES)) {
    const row = gateway.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${code}\``));
    assert.equal(row?.split('|')[2]?.trim(), String(status), code);
  }
});

test('the errors page explains every code that runs, deliveries and fields end with', () => {
  const { markdown } = docsPage('errors') ?? assert.fail('no errors page');
  const table = markdown.slice(markdown.indexOf('## Runs, deliveries and fields'), markdown.indexOf('## Gateway errors'));
  const told = new Set(
    [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => cell.split(', ').map((code) => code.slice(1, -1))),
  );
  const written = (files: string, code: RegExp) =>
    globSync(files)
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(code)].map(([, name, other]) => name ?? other ?? ''));
  const codes = [
    ...EXECUTION_ERRORS,
    ...ERROR_CODES,
    ...written('server/domain/{webhooks,inbound-webhooks,alert-channels}/*.ts', /\bfailed\('([a-z_]+)'|\berror: '([a-z_]+)'/g),
    ...written('sdk/elements/**/*.ts', /new SvcError\('([a-z_]+)'/g),
  ].filter(Boolean);
  assert.ok(codes.length > 40);
  assert.deepEqual(
    codes.filter((code) => !told.has(code)),
    [],
  );
});

test('each page has a Markdown twin, llms.txt lists them all, and other names are 404', async () => {
  const index = await docsIndex().text();
  for (const { slug, title } of docsPages()) {
    assert.ok(index.includes(`[${title}](`) && index.includes(`/docs/${slug}.md)`), slug);
    assert.equal(docsMarkdown(slug).headers.get('content-type'), 'text/markdown; charset=utf-8');
  }
  for (const name of ['nosuch', '../README', '..%2fREADME', '', '__proto__']) assert.equal(docsMarkdown(name).status, 404, name);
});

/** The anchors of a text's headings, as the page makes them. */
const headings = (markdown: string): string[] =>
  [...markdown.matchAll(/^#{1,6} (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );

test('the page of hosted fields tells the address and the integrity hash of the library as it is served', () => {
  const markdown = docsPage('hosted-fields')?.markdown ?? '';
  assert.ok(markdown.includes(elementFile('seal.js').integrity));
  assert.ok(markdown.includes(`${env.PUBLIC_API_URL}/elements/v1/seal.js`));
  assert.doesNotMatch(markdown, /%LIBRARY/);
});
