import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { pruneVersions, recordVersionUse, writeVersions } from './service.ts';

// Who still asks for which version of the API (interface rule 64 §7).

await testDatabase();
const VERSION = '2026-08-05';
const seen = async (w: Workspace) => (await made(w.ctx('live', memberActor('admin')), 'api_keys.versions')).seen;

test('each key is told with the versions it asked for and the calls that named none, in both spaces', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const [live, tried, foreign] = [await w.key('live'), await w.key('test', 'Key - Read-only'), await other.key('live')];
  for (let i = 0; i < 3; i++) await call('GET', '/routes', { key: live.text });
  await call('GET', '/routes', { key: live.text, headers: { 'service-version': VERSION } });
  await call('GET', '/environments', { key: tried.text });
  await call('GET', '/routes', { key: foreign.text });
  assert.deepEqual(await seen(w), [], 'no call waits for its count');
  await writeVersions();
  await call('GET', '/routes', { key: live.text });
  await writeVersions();
  const told = (await seen(w)).map((s: Record<string, unknown>) => [s.space, s.key_id, s.version, s.named, s.calls]);
  assert.deepEqual(
    told.sort(),
    [
      ['live', live.row.key_id, VERSION, false, 4],
      ['live', live.row.key_id, VERSION, true, 1],
      ['test', tried.row.key_id, VERSION, false, 1],
    ].sort(),
  );
});

test('refused versions and unknown keys count for nobody, and a person’s own calls are no key’s', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  await call('GET', '/routes', { key, headers: { 'service-version': '1999-01-01' } });
  await call('GET', '/routes', { key: `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}` });
  recordVersionUse(w.ctx('live', memberActor('owner')), VERSION, true);
  await writeVersions();
  assert.deepEqual(await seen(w), []);
});

test('a revoked key keeps its name there, and what is older than thirty days goes', async () => {
  const w = await workspace();
  const { row, text } = await w.key('live');
  await call('GET', '/routes', { key: text });
  await writeVersions();
  await made(w.live, 'api_keys.revoke', { id: row.id });
  assert.deepEqual(
    (await seen(w)).map((s: { name: string; active: boolean }) => [s.name, s.active]),
    [[row.name, false]],
  );
  await sql().query('update api_version_days set day = day - 30 where api_key_id = $1', [row.id]);
  assert.deepEqual(await seen(w), []);
  assert.equal(await pruneVersions(new Date()), 1);
  assert.equal(await db().api_version_days.count({ where: { api_key_id: row.id } }), 0);
});

test('a store that does not answer costs the counts and nothing else', async () => {
  const w = await workspace();
  const { row, text } = await w.key('live');
  recordVersionUse({ ...w.live, actor: { ...w.live.actor, type: 'api_key', id: 'not an id' } as never }, VERSION, true);
  assert.equal((await call('GET', '/routes', { key: text })).status, 200);
  await writeVersions();
  assert.equal(await db().api_version_days.count({ where: { api_key_id: row.id } }), 0);
  await call('GET', '/routes', { key: text });
  await writeVersions();
  assert.equal(await db().api_version_days.count({ where: { api_key_id: row.id } }), 1);
});

test('whoever may not list keys is not told', async () => {
  const w = await workspace();
  await assert.rejects(made(w.ctx('live', memberActor('member')), 'api_keys.versions'), { type: 'role_denied' });
});
