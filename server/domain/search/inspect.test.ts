import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

// The inspector of the developer pane: any id, what it is, where it is shown (interface rule 70 §11).

await testDatabase();

const inspect = async (ctx: Ctx, id: string) =>
  (await perform(operationById('search.inspect'), ctx, { id })).output as Record<string, string | null>;
const answerOf = (ctx: Ctx, id: string) =>
  inspect(ctx, id).catch((error: unknown) => (error instanceof Refusal ? [error.type, error.message, error.extra] : error));

/** One of each thing that has an id. */
async function everything(live: Ctx) {
  const route = await made(live, 'routes.create', { name: 'Payments', target_base_url: 'https://api.example.com' });
  const example = { id: route.id, name: 'an order', method: 'GET', path: '/', headers: [], body: '', assertions: [] };
  const secret = await made(live, 'secrets.create', { name: 'PAY_KEY', value: 'a value of some length' });
  const version = await db().secret_values.findFirstOrThrow({ where: { environment: { secret_id: String(secret.id) } } });
  const client = await made(live, 'clients.create', { name: 'till', ip_address: '203.0.113.7' });
  const credential = await made(live, 'clients.create_credential', { id: client.id, kind: 'ip', data: { value: '203.0.113.8' } });
  const collection = await made(live, 'collections.create', { name: 'Shelf' });
  const variable = await made(live, 'collections.variables.create', { id: collection.id, key: 'region', type: 'value', value: 'eu' });
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: live.tenant_id, resource_id: String(route.id) } });
  return {
    route: route.id,
    route_example: (await made(live, 'routes.examples.create', example)).id,
    secret: secret.id,
    secret_version: version.id,
    client: client.id,
    client_credential: credential.id,
    collection: collection.id,
    collection_variable: variable.id,
    audit_entry: entry.id,
    workspace: live.tenant_id,
  } as Record<string, string>;
}

test('each kind of id is told and leads to the page that shows it, from either space', async () => {
  const w = await workspace();
  const ids = await everything(w.live);
  for (const ctx of [w.member('owner'), { ...w.member('owner'), sandbox: true }])
    for (const [kind, id] of Object.entries(ids)) {
      const found = await inspect(ctx, id.toUpperCase());
      assert.deepEqual([found.kind, found.space], [kind, kind === 'workspace' ? null : 'live'], kind);
      assert.ok(found.url?.startsWith(`/${w.tenant.slug}/`), kind);
    }
  assert.equal((await inspect(w.member('owner'), String(ids.client_credential))).url, `/${w.tenant.slug}/live/clients/${ids.client}`);
});

test('a key is told by the name it goes by in lists, and nothing longer is looked for', async () => {
  const w = await workspace();
  const { row, text } = await w.key('test');
  const found = await inspect(w.member('owner'), row.key_id);
  assert.deepEqual([found.kind, found.id, found.space], ['api_key', row.id, 'test']);
  assert.deepEqual(await answerOf(w.member('owner'), text), await answerOf(w.member('owner'), newId()));
});

test('unknown, foreign and not for this role are one answer', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const ids = await everything(w.live);
  const unknown = await answerOf(other.member('owner'), newId());
  assert.equal((unknown as unknown[])[0], 'not_found');
  for (const [kind, id] of Object.entries(ids)) assert.deepEqual(await answerOf(other.member('owner'), id), unknown, kind);
  for (const odd of ['x', "' or 1=1 --", '%', 'req:', `req:${ids.route}`, '0'.repeat(100)])
    assert.deepEqual(await answerOf(w.member('owner'), odd), unknown, odd);
  // A Member sees what routes are called, and neither keys, audit nor what collections hold.
  for (const kind of ['audit_entry', 'collection_variable', 'client_credential', 'secret_version', 'route_example'])
    assert.deepEqual(await answerOf(w.member('member'), String(ids[kind])), unknown, kind);
});
