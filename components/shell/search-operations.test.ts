import assert from 'node:assert/strict';
import test from 'node:test';
import { listedOperations } from '#server/trpc/listed-operations.ts';
import { operationsLike } from './search-operations.ts';

const all = listedOperations();
const ids = (text: string) => operationsLike(all, text).map(({ id }) => id);

test('after a question mark the operations of the API are found by words, path and method, the nearest first', () => {
  assert.equal(ids('create a route')[0], 'routes.create');
  assert.ok(ids('DELETE /secrets').includes('secrets.delete'));
  assert.ok(ids('rotate key').some((id) => id.startsWith('api_keys.')));
  assert.deepEqual(ids('no such thing anywhere'), []);
});

test('only what an API key can call is offered, and never more than a page', () => {
  for (const { id } of operationsLike(all, '')) assert.ok(all.find((op) => op.id === id)?.public, id);
  assert.equal(operationsLike(all, '').length, 30);
});
