import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';

await ownDatabase();

const post = (key: string, name: string, idempotency: string, extra: Record<string, string> = {}) =>
  call('POST', '/environments', { key, body: { name }, headers: { 'x-idempotency-key': idempotency, ...extra } });

test('fifty parallel equal calls make one row; the others are told to wait or get the same bytes', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(key, 'one', 'k-parallel')));
  const done = answers.filter((a) => a.status === 201);
  assert.ok(done.length >= 1);
  assert.equal(new Set(done.map((a) => a.text)).size, 1, 'one answer, byte for byte');
  assert.equal(done.filter((a) => a.headers.get('x-idempotent-replay') === null).length, 1, 'exactly one ran');
  for (const a of answers.filter((a) => a.status !== 201)) assert.equal(a.body.error.type, 'request_in_progress');
  assert.equal(await db().environments.count({ where: { tenant_id: w.tenant.id, name: 'one' } }), 1);
});

test('a replay repeats status, bytes and request id, is marked, and writes no second audit entry', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const first = await post(key, 'staging', 'k1');
  const again = await post(key, 'staging', 'k1');
  assert.deepEqual([again.status, again.text], [first.status, first.text]);
  assert.equal(again.headers.get('x-idempotent-replay'), 'true');
  assert.equal(again.headers.get('x-request-id'), first.body.meta.request_id);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'create' } }), 1);
});

test('another body, query or path under the same key is refused 422', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  await post(key, 'a', 'k2');
  assert.equal((await post(key, 'b', 'k2')).body.error.type, 'idempotency_key_reuse');
  const other = await call('POST', '/api-keys', { key, body: { name: 'a' }, headers: { 'idempotency-key': 'k2' } });
  assert.equal(other.status, 422);
});

test('a refused validation replays; a refused capability does not hold the key', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const bad = await call('POST', '/environments', { key, body: { name: 'BAD NAME' }, headers: { 'idempotency-key': 'k3' } });
  const replayed = await call('POST', '/environments', { key, body: { name: 'BAD NAME' }, headers: { 'idempotency-key': 'k3' } });
  assert.deepEqual([bad.status, replayed.status, replayed.headers.get('x-idempotent-replay')], [400, 400, 'true']);
  assert.equal(replayed.text, bad.text);
  // Refused by the verb, not for want of a right: that outcome is the request's own and is repeated (interface rule 01 §7.8).
  const { text: editor } = await w.key('live', 'Key - Editor');
  const grab = () =>
    call('POST', '/api-keys', {
      key: editor,
      body: { name: 'up', role_ids: ['00000000-0000-4000-8000-000000000104'] },
      headers: { 'idempotency-key': 'k3-grab' },
    });
  const escalation = await grab();
  const repeated = await grab();
  assert.deepEqual([escalation.status, escalation.body.error.type], [403, 'privilege_escalation']);
  assert.deepEqual([repeated.headers.get('x-idempotent-replay'), repeated.text], ['true', escalation.text]);
  const { text: reader } = await w.key('live', 'Key - Read-only');
  const want = () => call('POST', '/environments', { key: reader, body: { name: 'q' }, headers: { 'idempotency-key': 'k3-right' } });
  assert.deepEqual([(await want()).status, (await want()).headers.get('x-idempotent-replay')], [403, null]);
});

test('effect and stored answer commit together: an answer that cannot be stored leaves no effect', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  await sql().query(
    `create function refuse_completion() returns trigger language plpgsql as $$ begin if new.state = 'completed' then raise exception 'disk full'; end if; return new; end $$`,
  );
  await sql().query('create trigger refuse_completion before update on idempotency_keys for each row execute function refuse_completion()');
  try {
    assert.equal((await post(key, 'never', 'k5')).status, 500);
  } finally {
    await sql().query('drop trigger refuse_completion on idempotency_keys');
  }
  assert.equal(await db().environments.count({ where: { tenant_id: w.tenant.id, name: 'never' } }), 0);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, resource_type: 'environment' } }), 0);
  assert.equal((await post(key, 'never', 'k5')).status, 201, 'a retry after a 500 executes');
});

test('an API key in a stored answer opens only with the same key text', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const create = () =>
    call('POST', '/api-keys', { key, body: { name: 'CI' }, headers: { 'idempotency-key': '01J8ZQ4T9V6Q2M4N8K7H5R1C0B' } });
  const first = await create();
  assert.equal(first.status, 201);
  assert.equal((await create()).text, first.text);
  const row = await db().idempotency_keys.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  const { keyring } = await import('#server/platform/keys.ts');
  const outer = await keyring().openValue(
    { tenant_id: w.tenant.id, space: 'live', purpose: 'idempotency_response', row_id: row.id },
    { value_ct: row.body_ct!, cek_wrapped: row.cek_wrapped!, tmk_version: row.body_tmk! },
  );
  assert.ok(!outer.toString('latin1').includes(first.body.data.api_key), 'the service alone cannot read it');
  const dump = JSON.stringify(await db().idempotency_keys.findMany(), (_, v) =>
    v instanceof Uint8Array ? Buffer.from(v).toString('latin1') : v,
  );
  assert.ok(!dump.includes('01J8ZQ4T9V6Q2M4N8K7H5R1C0B'), 'the key text is not stored');
});

test('keys of 0, 256 and spaced characters are refused; on GET any header is ignored', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  for (const bad of ['', 'a b', 'x'.repeat(256), 'ü']) {
    const headers = { 'idempotency-key': bad };
    if (bad !== 'ü')
      assert.equal(
        (await call('POST', '/environments', { key, body: { name: 'q' }, headers })).body.error.type,
        'invalid_idempotency_key',
        JSON.stringify(bad),
      );
  }
  assert.equal(
    (await call('POST', '/environments', { key, body: { name: 'q' }, headers: { 'idempotency-key': 'a', 'x-idempotency-key': 'b' } }))
      .status,
    400,
  );
  assert.equal((await call('GET', '/environments', { key, headers: { 'idempotency-key': 'a b' } })).status, 200);
});
