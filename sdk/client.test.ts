import assert from 'node:assert/strict';
import test from 'node:test';
import { startGateway } from '#server/gateway/gateway.fixture.ts';
import { startWeb } from '#server/gateway/v1/web.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { createSallyport } from './client.ts';
import { SallyportError } from './error.ts';
import operations from './generated/operations.json' with { type: 'json' };
import { failureOf } from './hostile-server.fixture.ts';
import { paginate, paginateFeed } from './paginate.ts';

// The client against the running service, over sockets.

await testDatabase({ SVC_GATEWAYS: '1' });
await startWeb();
const gateway = await startGateway();
const { port } = await gateway.gateway.listen('api', 0, '127.0.0.1');
const w = await workspace();
const { text: key } = await w.key();
const sallyport = createSallyport({ base_url: `http://localhost:${port}`, credential: key });

test('an object is made, read, listed, changed and deleted with its types', async () => {
  const { data: made, meta } = await sallyport.environments.create({ body: { name: 'staging', display_name: 'Staging' } });
  assert.match(meta.request_id, /^[0-9a-f-]{36}$/);
  const { data: read } = await sallyport.environments.get({ path: { id: made.id } });
  assert.equal(read.display_name, 'Staging');
  await sallyport.environments.update({ path: { id: made.id }, body: { display_name: 'Stage' } });
  const { data: list } = await sallyport.environments.list();
  assert.ok(list.some(({ display_name }) => display_name === 'Stage'));
  assert.equal((await sallyport.environments.delete({ path: { id: made.id } })).data.deleted, true);
});

test('a refusal is a typed error with its request and its next step', async () => {
  const error = await failureOf<SallyportError>(sallyport.routes.get({ path: { id: 'no-such-route' } }));
  assert.ok(error instanceof SallyportError);
  assert.deepEqual([error.type, error.status], ['not_found', 404]);
  assert.match(error.request_id ?? '', /^[0-9a-f-]{36}$/);
  assert.match(error.next_step, /Check the ID/);
  const invalid = await failureOf<SallyportError>(sallyport.routes.list({ query: { sort: 'colour' as 'name' } }));
  assert.equal(invalid.param, 'sort');
});

test('pages are followed to the end, each result once', async () => {
  for (let i = 0; i < 7; i++) await sallyport.collections.create({ body: { name: `collection-${i}` } });
  const names: string[] = [];
  for await (const { name } of paginate((query) => sallyport.collections.list({ query }), 3)) names.push(name);
  assert.equal(names.length, new Set(names).size);
  assert.ok(names.length >= 7);
});

test('a feed is read to where it is drained, each entry once', async () => {
  const ids: string[] = [];
  for await (const { id } of paginateFeed((query) => sallyport.auditLogs.events({ query: { ...query, limit: 2 } }))) ids.push(id);
  assert.equal(ids.length, new Set(ids).size);
});

test('an operation that this client has no type for is a request like any other', async () => {
  const { data } = await sallyport.request<{ slug: string }>('GET', '/account');
  assert.equal(data.slug, w.tenant.slug);
});

test('every operation of the document is in the generated client and in the command table', () => {
  for (const { id } of operations.operations) {
    const [verb = '', ...families] = id
      .split('.')
      .map((part) => part.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()))
      .reverse();
    const family = families
      .reverse()
      .reduce<Record<string, unknown>>((at, name) => at[name] as Record<string, unknown>, sallyport as never);
    assert.equal(typeof family?.[verb], 'function', id);
  }
});
