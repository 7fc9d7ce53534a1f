import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { type ApiDocument, operationsOf } from '#components/explorer/document.ts';
import { commandsOf } from './commands.ts';
import { columnsOf, shownOf } from './output.ts';

const commands = commandsOf(operationsOf(JSON.parse(fs.readFileSync('public/openapi.json', 'utf8')) as ApiDocument));
const command = (id: string) => {
  const found = commands.find(({ op }) => op.id === id);
  assert.ok(found, id);
  return found;
};
const answer = (body: unknown) => ({
  status: 200,
  headers: [],
  body: typeof body === 'string' ? body : JSON.stringify(body),
  duration_ms: 1,
  request_id: 'r',
});

test('a list says how many there are and how to see the next', () => {
  const meta = { total: 7, page: 1, per_page: 5, total_pages: 2, warnings: ['look out'] };
  const shown = shownOf(answer({ data: [{ id: 'a' }, { id: 'b' }], meta }), command('routes.list'));
  assert.equal(shown.more, '2 of 7; next page: `routes list --page 2`');
  assert.deepEqual(shown.warnings, ['look out']);
  const feed = shownOf(answer({ data: [{ id: 'a' }], meta: { next_cursor: 'abc' } }), command('logs.follow'));
  assert.match(feed.more ?? '', /`logs follow --cursor abc`/);
  assert.equal(shownOf(answer({ data: [], meta: {} }), command('environments.list')).more, '0 total');
});

test('columns are those that say something, names first and the id last', () => {
  const rows = [
    { id: '1', created_at: 'x', collection_id: 'c', slug: null, name: 'A', empty: '', config: {}, tags: [] },
    { id: '2', created_at: 'y', collection_id: null, slug: 's', name: 'B', empty: null, config: {}, tags: ['t'] },
  ];
  assert.deepEqual(columnsOf(rows), ['name', 'slug', 'created_at', 'tags', 'id']);
  assert.deepEqual(columnsOf([{ client_id: '1', name: 'A' }]), ['name', 'client_id']);
  const wide = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, i]));
  assert.equal(columnsOf([wide]).length, 7);
  assert.deepEqual(columnsOf([]), []);
});

test('an answer that is no JSON is shown as it is', () => {
  const shown = shownOf(answer('plain'), command('routes.get'));
  assert.deepEqual([shown.text, shown.rows], ['plain', undefined]);
});
