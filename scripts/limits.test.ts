import assert from 'node:assert/strict';
import test from 'node:test';
import { limitProblems, sites } from './limits.ts';

const file = (source: string, name = 'server/domain/new/parsing.ts') => sites([name], () => source);
const page = (where: string, title = 'where') => `| what | ${title} |\n| --- | --- |\n| texts | ${where} |\n`;

test('every module of the service that parses, sorts or builds expressions has its bound on the page', () => {
  assert.deepEqual(limitProblems(), []);
});

test('a new parser, a JSON.parse, an expression of data and a sort are found, and each needs a row', () => {
  for (const source of [
    "import { parse } from 'yaml';",
    "import { gunzipSync } from 'node:zlib';",
    'JSON.parse(text)',
    'new RegExp(text)',
    'list.sort()',
  ])
    assert.equal(limitProblems(file(source), page('nowhere')).length, 1, source);
  for (const source of ['// JSON.parse(text)', "import type { Node } from 'yaml';", 'sorted(list)'])
    assert.deepEqual(file(source), [], source);
  assert.deepEqual(file('JSON.parse(text)', 'server/domain/new/parsing.test.ts'), []);
});

test('a row is about its module, or about a folder; one of sorting is about sorting alone', () => {
  const parsing = file('JSON.parse(text)', 'server/kernel/slices.ts');
  const sorting = file('list.sort()', 'server/kernel/slices.ts');
  assert.deepEqual(limitProblems(parsing, page('`server/kernel/slices.ts`')), []);
  assert.deepEqual(limitProblems(parsing, page('`server/kernel/`')), []);
  assert.deepEqual(limitProblems(sorting, page('`server/kernel/`', 'sorts in')), []);
  assert.equal(limitProblems(parsing, page('`server/kernel/`', 'sorts in')).length, 1);
  assert.match(limitProblems([], page('`server/kernel/gone.ts`')).join(), /isn't there/);
});

test('a row without a test, or with one that is gone, is a problem, and so is any other empty cell', () => {
  const row = (...cells: string[]) => `| what | bound | where | test |\n| --- | --- | --- | --- |\n| ${cells.join(' | ')} |\n`;
  const here = '`server/kernel/slices.ts`';
  assert.deepEqual(limitProblems([], row('texts', '1 KiB', here, '`server/platform/threads/pool.test.ts`')), []);
  for (const page of [
    row('texts', '1 KiB', here, ''),
    row('texts', '', here, '`server/platform/threads/pool.test.ts`'),
    '| what | test |\n| --- | --- |\n| texts |\n',
  ])
    assert.match(limitProblems([], page).join(), /leaves "(?:test|bound)" of "texts" empty/);
  assert.match(limitProblems([], row('texts', '1 KiB', here, '`server/kernel/gone.test.ts`')).join(), /isn't there/);
});
