import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { operations } from '#server/api/operations.ts';
import { perform } from '#server/api/perform.ts';
import { families } from '#server/domain/families.ts';
import { type Capability, MEMBER_ROLES } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { searchableResources } from './searchable.ts';

const NEEDS: Readonly<Record<string, Capability>> = Object.fromEntries(
  searchableResources(families).map(({ type, search }) => [type, search.needs]),
);

await ownDatabase();

type Item = { id: string; title: string; url: string; subtitle: string | null; badges: string[]; space: string; score: number };
type Answer = { groups: { type: string; items: Item[] }[]; actions: { id: string; title: string; url: string }[]; took_ms: number };

const search = async (ctx: Ctx, q: string, more: object = {}) =>
  (await perform(operationById('search.query'), ctx, { q, ...more })).output as Answer;
const titles = (answer: Answer) => answer.groups.flatMap(({ items }) => items.map(({ title }) => title));
const route = (ctx: Ctx, name: string, host = 'api.example.com') =>
  made(ctx, 'routes.create', { name, target_base_url: `https://${host}/v1` });

test('a name is found by its beginning, by any of its words and despite a typing error', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  await route(w.live, 'Payments gateway');
  await route(w.live, 'InvoiceMailer');
  for (const q of ['payments gateway', 'Pay', 'gatew', 'pay gat', 'paymets', 'gatewya', 'payemnts', 'paymnets gatway'])
    assert.deepEqual(titles(await search(ctx, q)).slice(0, 1), ['Payments gateway'], q);
  for (const q of ['invoicemailer', 'mailer', 'invioce', 'invoicmailr'])
    assert.deepEqual(titles(await search(ctx, q)), ['InvoiceMailer'], q);
  assert.deepEqual(titles(await search(ctx, 'zebra crossing')), []);
  assert.deepEqual(titles(await search(ctx, '')), []);
});

test('the very name comes before names that begin with it, and those before names that hold it', async () => {
  const w = await workspace();
  for (const name of ['my stripe', 'stripe eu', 'stripe']) await route(w.live, name);
  assert.deepEqual(titles(await search(w.member('owner'), 'stripe')), ['stripe', 'stripe eu', 'my stripe']);
});

test('what a rename or a removal changed is found so at once, and a failed change leaves no trace', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  const { id } = await made(w.live, 'secrets.create', { name: 'OLDNAME', value: 'v' });
  await made(w.live, 'secrets.update', { id, name: 'FRESHNAME' });
  assert.deepEqual(titles(await search(ctx, 'oldname')), []);
  assert.deepEqual(titles(await search(ctx, 'freshname')), ['FRESHNAME']);
  await made(w.live, 'secrets.delete', { id });
  assert.deepEqual(titles(await search(ctx, 'freshname')), []);
  const taken = await route(w.live, 'taken');
  await assert.rejects(made(w.live, 'routes.create', { name: taken.name, target_base_url: 'https://rolledback.example' }));
  assert.deepEqual(titles(await search(ctx, 'rolledback.example')), []);
});

test('a route is found by the address of any of its environments, for as long as it has it', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  const { id } = await route(w.live, 'everywhere');
  const found = async (q: string) => titles(await search(ctx, q));
  for (const [name, own] of [
    ['inherits', {}],
    ['staging', { target_base_url: 'https://staging.example.net' }],
  ] as const) {
    await made(w.live, 'environments.create', { name });
    await made(w.live, 'routes.environments.put', { id, env: name, ...own });
  }
  assert.deepEqual(await found('staging.example.net'), ['everywhere']);
  await made(w.live, 'routes.environments.put', { id, env: 'inherits', target_base_url: 'https://moved.example.org' });
  assert.deepEqual(await found('moved.example.org'), ['everywhere']);
  for (const env of ['staging', 'inherits']) await made(w.live, 'routes.environments.delete', { id, env });
  assert.deepEqual([await found('staging.example.net'), await found('moved.example.org')], [[], []]);
  assert.deepEqual(await found('everywhere'), ['everywhere']);
});

test('an id leads to its resource or its call, and `req:` to the call alone', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  const { id } = await route(w.live, 'by id');
  const answer = await search(ctx, id.toUpperCase());
  assert.deepEqual([answer.groups[0]?.type, answer.groups[0]?.items[0]?.url], ['route', `/${w.tenant.slug}/live/routes/${id}`]);
  const call = newId();
  await sql().query(
    `insert into request_logs (request_id, tenant_id, sandbox, ts, method, status_code, path, proxy_mode) values ($1, $2, true, now(), 'GET', 502, '/a?token=hidden', 'route')`,
    [call, w.tenant.id],
  );
  for (const q of [call, `req:${call}`, `req: ${call}`]) {
    const [group] = (await search(ctx, q)).groups;
    assert.deepEqual(
      [group?.type, group?.items[0]?.title, group?.items[0]?.url, group?.items[0]?.space],
      ['request', 'GET /a', `/${w.tenant.slug}/test/logs?peek=${call}`, 'test'],
    );
  }
  assert.deepEqual(titles(await search(ctx, `req:${id}`)), []);
  assert.deepEqual(titles(await search(ctx, newId())), []);
});

test('an address finds the clients it would be, the narrowest first, and a range those inside it; a host finds its routes', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  await made(w.live, 'clients.create', { name: 'office', ip_address: '203.0.113.0/24' });
  await made(w.live, 'clients.create', { name: 'desk', ip_address: '203.0.113.7' });
  await made(w.live, 'clients.create', { name: 'elsewhere', ip_address: '198.51.100.1' });
  const { id } = await made(w.live, 'clients.create', { name: 'roaming', ip_address: '192.0.2.1' });
  await made(w.live, 'clients.create_credential', { id, kind: 'ip', data: { value: '2001:db8::/48' } });
  assert.deepEqual(titles(await search(ctx, '203.0.113.7')), ['desk', 'office']);
  assert.deepEqual(titles(await search(ctx, '203.0.113.9')), ['office']);
  assert.deepEqual(titles(await search(ctx, '203.0.0.0/16')), ['desk', 'office']);
  assert.deepEqual(titles(await search(ctx, '2001:db8::5')), ['roaming']);
  await route(w.live, 'one', 'api.stripe.com');
  await route(w.live, 'two', 'hooks.slack.com');
  assert.deepEqual(titles(await search(ctx, 'api.stripe.com')), ['one']);
  assert.deepEqual(titles(await search(ctx, 'https://u:p@hooks.slack.com/services/T000?x=1')), ['two']);
});

test('both spaces are found, the own one first and each with its place; no find of another workspace ever appears', async () => {
  const [mine, theirs] = await Promise.all([workspace(), workspace()]);
  await route(mine.live, 'shared word');
  await route(mine.test, 'shared word');
  const foreign = await route(theirs.live, 'shared word foreign');
  await made(theirs.live, 'clients.create', { name: 'foreign client', ip_address: '203.0.113.7' });
  const fromTest = await search(mine.member('owner', 'test'), 'shared');
  assert.deepEqual(
    fromTest.groups[0]?.items.map(({ space }) => space),
    ['test', 'live'],
  );
  for (const q of ['shared', 'foreign', 'forein', foreign.id, '203.0.113.7', '>rotate key foreign'])
    assert.ok(!JSON.stringify(await search(mine.member('owner'), q)).includes('foreign'), q);
});

describe('nobody finds what they may not list', () => {
  test('what finding takes is what listing takes', () => {
    const lists = {
      route: 'routes.list',
      secret: 'secrets.list',
      client: 'clients.list',
      collection: 'collections.list',
      environment: 'environments.list',
      api_key: 'api_keys.list',
      request: 'logs.browse',
    };
    for (const [type, id] of Object.entries(lists)) assert.deepEqual(operations.find((op) => op.id === id)?.needs, [NEEDS[type]!], type);
  });
  for (const role of MEMBER_ROLES)
    test(role, async () => {
      const w = await workspace();
      await route(w.live, 'needle route');
      await made(w.live, 'secrets.create', { name: 'NEEDLE_SECRET', value: 'v' });
      await made(w.live, 'clients.create', { name: 'needle client', ip_address: '203.0.113.7' });
      await made(w.live, 'api_keys.create', { name: 'needle key' });
      const ctx = w.member(role);
      const found = (await search(ctx, 'needle')).groups.map(({ type }) => type).sort();
      const expected = ['api_key', 'client', 'route', 'secret'].filter((type) => ctx.actor.capabilities.has(NEEDS[type]!));
      assert.deepEqual(found, expected);
      assert.deepEqual(titles(await search(ctx, '203.0.113.7')), expected.includes('client') ? ['needle client'] : []);
      assert.equal((await search(ctx, '>create')).actions.length > 0, ctx.actor.capabilities.has('route:create'));
    });
  test('a policy that denies listing hides finds, in its space only', async () => {
    const w = await workspace();
    await db().tenant_policies.create({
      data: {
        id: newId(),
        tenant_id: w.tenant.id,
        name: 'no routes',
        enabled: true,
        actions: ['route:list'],
        subjects: { all: true },
        resources: [],
        space: 'live',
      },
    });
    await route(w.live, 'denied here');
    await route(w.test, 'denied here');
    assert.deepEqual(
      (await search(w.member('owner'), 'denied')).groups[0]?.items.map(({ space }) => space),
      ['test'],
    );
  });
});

test('actions are found by their words and name what they are done to', async () => {
  const w = await workspace();
  const ctx = w.member('owner');
  const { id } = await made(w.live, 'api_keys.create', { name: 'build server' });
  assert.deepEqual((await search(ctx, '> cr rou')).actions, [
    { id: 'create-route', title: 'Create route', url: `/${w.tenant.slug}/live/routes?create=true` },
  ]);
  assert.deepEqual((await search(ctx, '>rotate key build')).actions, [
    { id: `api_key-${id}`, title: 'Rotate or revoke key build server', url: `/${w.tenant.slug}/live/api-keys?peek=${id}` },
  ]);
});

test('no value, description or key ever stands in the index', async () => {
  const w = await workspace();
  const canary = 'canary0value0nobody0may0find';
  await made(w.live, 'secrets.create', { name: 'CANARY', value: canary, description: canary });
  await made(w.live, 'clients.create', { name: 'canary client', ip_address: '203.0.113.8', description: canary });
  await made(w.live, 'routes.create', {
    name: 'canary route',
    target_base_url: `https://api.example.com/${canary}`,
    inject_headers_json: { authorization: canary },
  });
  const key = await made(w.live, 'api_keys.create', { name: 'canary key' });
  const { rows } = await sql().query<{ all: string }>(
    `select string_agg(d::text, ' ') as all from search_documents d where tenant_id = $1`,
    [w.tenant.id],
  );
  assert.ok(rows[0]?.all.includes('CANARY'));
  assert.ok(!rows[0]?.all.toLowerCase().includes(canary));
  const secretPart = String(key.api_key).split('_').at(-1) as string;
  assert.ok(secretPart.length > 20 && !rows[0]?.all.toLowerCase().includes(secretPart.toLowerCase()));
  assert.deepEqual(titles(await search(w.member('owner'), canary)), []);
});

test('hostile text is text: it fails nothing and finds nothing', async () => {
  const w = await workspace();
  await route(w.live, 'plain');
  for (const q of [
    "' | '",
    "plain' & !'x",
    '%',
    '_',
    '\\',
    ':*',
    '!',
    '()',
    'a'.repeat(200),
    '😀',
    '\u202eevil',
    '>',
    '>(',
    "'; drop table routes; --",
    '999.999.999.999',
    '::::',
    '0.0.0.0/0',
    'req:',
  ])
    assert.ok((await search(w.member('owner'), q)).took_ms >= 0, q);
  assert.deepEqual(titles(await search(w.member('owner'), 'plain')), ['plain']);
});

test('without the extension beginnings of words are still found', async () => {
  const w = await workspace();
  await route(w.live, 'Payments');
  await sql().query('drop extension pg_trgm cascade');
  assert.deepEqual(titles(await search(w.member('owner'), 'paym')), ['Payments']);
  assert.deepEqual(titles(await search(w.member('owner'), 'pyaments')), []);
});
