import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { workspace } from '#server/testing/workspace.ts';

await ownDatabase();

const DAY = 24 * 3_600_000;
const near = (at: string, expected: number) => assert.ok(Math.abs(Date.parse(at) - expected) < 60_000, at);
const SAYS_ONE = /^Send at most one of expires_at, expires_in_days, never_expires/;

for (const space of ['live', 'test'] as const)
  test(`a ${space === 'live' ? 'standard' : 'test'} key expires when it was asked to, and is refused from then on`, async () => {
    const w = await workspace();
    const { text: key } = await w.key(space, 'Key - Infrastructure');
    const at = new Date(Date.now() + 2 * DAY).toISOString();
    const byTime = await call('POST', '/api-keys', { key, body: { name: 'by time', expires_at: at } });
    assert.deepEqual([byTime.status, byTime.body.data.expires_at, byTime.body.meta.warnings], [201, at, undefined]);
    const byDays = await call('POST', '/api-keys', { key, body: { name: 'by days', expires_in_days: 30 } });
    near(byDays.body.data.expires_at, Date.now() + 30 * DAY);
    const never = await call('POST', '/api-keys', { key, body: { name: 'never', never_expires: true } });
    assert.equal(never.body.data.expires_at, null);

    const { id, api_key } = byTime.body.data;
    assert.equal((await call('GET', '/account', { key: api_key, space })).status, 200);
    await db().api_keys.update({ where: { id }, data: { expires_at: new Date(Date.now() - 1) } });
    assert.equal((await call('GET', '/account', { key: api_key, space })).status, 401);
    await sweepKind('api_key', new Date());
    assert.equal((await db().api_keys.findUniqueOrThrow({ where: { id } })).active, false, 'it no longer counts against the plan');
  });

test('a key takes one expiry at most, never less than an hour or more than five years ahead', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live', 'Key - Infrastructure');
  const refused = async (body: object, message: RegExp) => {
    const answer = await call('POST', '/api-keys', { key, body: { name: 'refused', ...body } });
    assert.deepEqual([answer.status, answer.body.error?.type], [400, 'validation_error'], JSON.stringify(body));
    assert.match(answer.body.error.message, message);
  };
  const at = new Date(Date.now() + DAY).toISOString();
  await refused({ expires_at: at, expires_in_days: 1 }, SAYS_ONE);
  await refused({ expires_at: at, never_expires: true }, SAYS_ONE);
  await refused({ expires_in_days: 1, never_expires: true }, SAYS_ONE);
  await refused({ never_expires: false }, /^never_expires: must be true or omitted/);
  for (const days of [0, 1826, 1.5, '30', null]) await refused({ expires_in_days: days }, /^expires_in_days: /);
  for (const ahead of [-DAY, 60_000, 1826 * DAY])
    await refused({ expires_at: new Date(Date.now() + ahead).toISOString() }, /^expires_at: must be between 1 hour and 5 years/);
  assert.equal((await db().api_keys.findMany({ where: { tenant_id: w.tenant.id, name: 'refused' } })).length, 0);
});

test('the expiry of any key can be changed and lifted, and a rotation keeps it unless told otherwise', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live', 'Key - Infrastructure');
  const { id, expires_at } = (await call('POST', '/api-keys', { key, body: { name: 'moving', expires_in_days: 10 } })).body.data;
  const kept = (await call('POST', `/api-keys/${id}/rotate`, { key })).body.data;
  assert.equal(kept.expires_at, expires_at);
  const moved = (await call('POST', `/api-keys/${id}/rotate`, { key, body: { expires_in_days: 90 } })).body.data;
  near(moved.expires_at, Date.now() + 90 * DAY);
  assert.equal((await call('POST', `/api-keys/${id}/rotate`, { key, body: { never_expires: true } })).body.data.expires_at, null);

  const change = async (body: object) => (await call('PATCH', `/api-keys/${id}`, { key, body })).body;
  near((await change({ expires_in_days: 20 })).data.expires_at, Date.now() + 20 * DAY);
  assert.equal((await change({ never_expires: true })).data.expires_at, null);
  near((await change({ expires_in_days: 20 })).data.expires_at, Date.now() + 20 * DAY);
  assert.equal((await change({ expires_at: null })).data.expires_at, null);
  assert.match((await change({ expires_at: null, never_expires: true })).error.message, SAYS_ONE);
  assert.match((await change({ scopes: ['routes:read'] })).error.message, /^scopes: only access keys/);
});

test('a key that expires passes its expiry on to keys it makes, and cannot make or rotate one that outlives it', async () => {
  const w = await workspace();
  const end = new Date(Date.now() + 5 * DAY);
  const { text: key, row } = await w.key('live', 'Key - Infrastructure', { expires_at: end });
  const heir = await call('POST', '/api-keys', { key, body: { name: 'heir' } });
  assert.equal(heir.body.data.expires_at, end.toISOString());
  const escalates = async (method: string, path: string, body: object) =>
    assert.equal((await call(method, path, { key, body })).body.error?.type, 'privilege_escalation', `${method} ${path}`);
  for (const body of [{ never_expires: true }, { expires_in_days: 6 }]) {
    await escalates('POST', '/api-keys', { name: 'longer', ...body });
    await escalates('POST', `/api-keys/${row.id}/rotate`, body);
    await escalates('PATCH', `/api-keys/${row.id}`, body);
  }
});
