import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { SecretVersions } from './schema.ts';
import { wipeSuperseded } from './values.ts';
import { secretVersions } from './versions.ts';

await testDatabase();
const HOUR = 3_600_000;

test('the history of a value tells when, by whom and how long it can be put back, and never the value', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const start = owner.now.getTime();
  const at = (hours: number) => ({ ...owner, now: new Date(start + hours * HOUR) });
  const { id } = await made(at(0), 'secrets.create', { name: 'TOKEN', value: 'first-value' });
  await made(at(1), 'secrets.put_value', { id, value: 'second-value' });
  await made(at(2), 'secrets.restore', { id });
  const read = async (hours: number, ctx = owner) => {
    const answer = await secretVersions({ ...ctx, now: new Date(start + hours * HOUR) }, { id });
    return SecretVersions.parse(answer);
  };
  const { versions, more } = await read(2);
  assert.equal(more, false);
  assert.deepEqual(
    versions.map((v) => [v.value_version, v.how, v.current, v.written_by === owner.actor.label]),
    [
      [3, 'restored', true, true],
      [2, 'set', false, true],
      [1, 'created', false, true],
    ],
  );
  assert.equal(versions[1]?.restorable_until, new Date(start + 26 * HOUR).toISOString());
  assert.doesNotMatch(JSON.stringify(versions), /first|second/);
  await wipeSuperseded(db(), new Date(start + 25.5 * HOUR));
  const later = (await read(25.5)).versions;
  assert.equal(later[2]?.wiped_at, new Date(start + 25.5 * HOUR).toISOString());
  assert.deepEqual(
    later.map((v) => v.restorable_until),
    [null, new Date(start + 26 * HOUR).toISOString(), null],
  );
  // Who changed it stands in the audit log, and is for those who may read that.
  const member = { ...w.member('viewer'), actor: { ...w.member('viewer').actor, capabilities: new Set(['secret:read'] as const) } };
  assert.deepEqual(
    (await read(2, member)).versions.map((v) => [v.written_by, v.how]),
    [
      [null, null],
      [null, null],
      [null, null],
    ],
  );
  await assert.rejects(secretVersions(w.test, { id }), { type: 'not_found' });
  await assert.rejects(secretVersions((await workspace()).live, { id }), { type: 'not_found' });
});

test('values written at once stand in the history in the order of their versions, each with its own writer', async () => {
  const w = await workspace();
  const { id } = await made(w.live, 'secrets.create', { name: 'BUSY', value: 'v' });
  const now = new Date();
  // The earliest instant is written last, and several share one.
  const writers = await Promise.all(
    [0, 0, 0, -5, -50].map(async (ms, i) => {
      const actor = { ...w.live.actor, label: `writer ${i}` };
      const ctx = { ...w.live, actor, now: new Date(now.getTime() + ms) } as typeof w.live;
      const { value_version } = await made(ctx, 'secrets.put_value', { id, value: `v${i}` });
      return [value_version, actor.label] as const;
    }),
  );
  const { versions } = SecretVersions.parse(await secretVersions(w.member('owner'), { id }));
  assert.deepEqual(
    versions.map((v) => v.value_version),
    [6, 5, 4, 3, 2, 1],
  );
  assert.equal(versions[0]?.current, true);
  for (const [version, label] of writers) assert.equal(versions.find((v) => v.value_version === version)?.written_by, label);
});

test('the list tells how many places refer to each secret and which version each environment holds', async () => {
  const w = await workspace();
  const used = await made(w.live, 'secrets.create', { name: 'USED', value: 'v' });
  await made(w.live, 'secrets.create', { name: 'FREE', value: 'v' });
  await made(w.live, 'secrets.put_value', { id: used.id, value: 'w' });
  const header = { Authorization: `Bearer {{secret_id:${used.id}}}`, 'X-Again': '{{secret:USED}}' };
  await made(w.live, 'routes.create', { name: 'a', target_base_url: 'http://127.0.0.1:9', inject_headers_json: header });
  const collection = await made(w.live, 'collections.create', { name: 'c' });
  await made(w.live, 'collections.variables.create', { id: collection.id, key: 'k', type: 'secret', secret_id: used.id });
  const rows = (await made(w.live, 'secrets.list')) as {
    name: string;
    reference_count: number;
    environments: { value_version: number }[];
  }[];
  assert.deepEqual(
    rows.map((r) => [r.name, r.reference_count, r.environments.map((e) => e.value_version)]),
    [
      ['FREE', 0, [1]],
      ['USED', 2, [2]],
    ],
  );
});
