import assert from 'node:assert/strict';
import test from 'node:test';
import { call as logged } from '#server/domain/request-logs/call.fixture.ts';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import { KEY_ROLES, keyCapabilities } from '#server/kernel/capabilities.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { apiKeyUses, narrower } from './uses.ts';

await testDatabase();
const roles = (...names: string[]) => KEY_ROLES.filter((role) => names.includes(role.name.replace('Key - ', ''))).map((role) => role.id);

test('a key that only read and called is offered the roles for that, and a refused attempt is no use', async () => {
  const w = await workspace();
  const key = await w.key('live', 'Key - Editor');
  const uses = () => apiKeyUses({ ...w.live, now: new Date() }, { id: key.row.id });
  assert.deepEqual((await uses()).used, [], 'never used: nothing is known, so nothing is offered');
  assert.equal((await uses()).narrower_role_ids, null);
  assert.equal((await call('GET', '/routes', { key: key.text })).status, 200);
  assert.equal((await call('GET', '/secrets', { key: key.text })).status, 200);
  assert.equal((await call('PATCH', '/account', { key: key.text, body: { name: 'x' } })).status, 403);
  const stamped = async () => (await sql().query('select capability from api_key_uses where api_key_id = $1', [key.row.id])).rows.length;
  await until(async () => (await stamped()) === 2, 'both uses are noted');
  assert.deepEqual(
    (await uses()).used.map((use) => use.capability),
    ['route:list', 'secret:read'],
  );
  assert.deepEqual((await uses()).narrower_role_ids, roles('Read-only'));
  await insertRows(sql(), [logged(w.live, { api_key_id: key.row.id, ts: new Date().toISOString() })]);
  assert.deepEqual((await uses()).used.map((use) => use.capability)[0], 'proxy:invoke');
  assert.deepEqual((await uses()).narrower_role_ids, roles('Invoke', 'Read-only'));
  assert.equal((await uses()).held, keyCapabilities(roles('Editor')).size);
  await assert.rejects(apiKeyUses({ ...w.test, now: new Date() }, { id: key.row.id }), { type: 'not_found' });
});

test('nothing narrower is offered to a key that has the narrowest already', () => {
  assert.equal(narrower(roles('Invoke'), new Set(['proxy:invoke'])), null);
  assert.equal(narrower(roles('Read-only'), new Set(['route:list'])), null);
  assert.deepEqual(narrower(roles('Infrastructure'), new Set(['proxy:invoke'])), roles('Invoke'));
  assert.equal(narrower(roles('Editor'), new Set(['no_such:capability'])), null);
});
