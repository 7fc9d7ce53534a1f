import assert from 'node:assert/strict';
import test from 'node:test';
import { isShown, viewQuery } from './view-query.ts';

test('a view keeps filters and order, never a place in the list or what is open over it', () => {
  assert.equal(viewQuery('?sort=name&page=3&enabled=false&peek=x&create=true&q='), 'enabled=false&sort=name');
  assert.equal(viewQuery(''), '');
});

test('two spellings of one look are one view', () => {
  assert.equal(viewQuery('q=a+b&sort=name'), viewQuery('?sort=name&q=a%20b'));
  assert.ok(isShown({ query: 'b=2&a=1', columns: ['slug'] }, viewQuery('?a=1&b=2&page=4'), new Set(['slug'])));
  assert.ok(!isShown({ query: 'a=1', columns: [] }, 'a=1', new Set(['slug'])));
});

test('what a view keeps of any address is accepted by the server', async () => {
  const { CreateView } = await import('#server/domain/views/schema.ts');
  const query = viewQuery(`?q=${encodeURIComponent('"ü <b>{x}|\\^`')}&tag=a%23b`);
  assert.ok(CreateView.safeParse({ page: 'routes', name: 'x', query }).success, query);
});
