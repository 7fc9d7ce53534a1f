import assert from 'node:assert/strict';
import test from 'node:test';
import { listedOperations } from '#server/trpc/listed-operations.ts';
import { searchOperations } from './search-operations.ts';

const all = listedOperations();
const ids = (text: string) => searchOperations(all, text).map(({ id }) => id);

test('after a question mark the operations of the API are found by words, path and method, the nearest first', () => {
  assert.equal(ids('create a route')[0], 'routes.create');
  assert.ok(ids('DELETE /secrets').includes('secrets.delete'));
  assert.ok(ids('rotate key').some((id) => id.startsWith('api_keys.')));
  assert.deepEqual(ids('no such thing anywhere'), []);
});

test('only what an API key can call is offered, and never more than a page', () => {
  for (const { id } of searchOperations(all, '')) assert.ok(all.find((op) => op.id === id)?.public, id);
  assert.equal(searchOperations(all, '').length, 30);
});
