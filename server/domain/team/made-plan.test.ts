import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { observed } from '#server/testing/observed.ts';
import { workspace } from '#server/testing/workspace.ts';
import { asMember } from './members.fixture.ts';

await testDatabase();

const MANY = 10_000;

test('beside ten thousand keys and workflows of others, what a person made is found by the index of makers', async () => {
  const w = await workspace();
  const [boss, admin] = [await asMember(w.member('owner')), await asMember(w.member('admin'))];
  const webhook = await made(admin, 'webhooks.create', { name: 'w', url: 'https://x.example.net/y', event_types: ['request.success'] });
  await sql().query(
    `insert into api_keys (id, tenant_id, sandbox, key_id, key_prefix, digest, key_type, name, made_by)
     select gen_random_uuid(), $1, i % 2 = 0, $1::uuid || '_' || i, 'k', '\\x00', 'standard', 'k', gen_random_uuid() from generate_series(1, ${MANY}) as i`,
    [w.tenant.id],
  );
  await sql().query(
    `insert into workflows (id, tenant_id, sandbox, name, enabled, disabled_reason, updated_at, made_by)
     select gen_random_uuid(), $1, i % 2 = 0, 'w ' || i, true, null, now(), gen_random_uuid() from generate_series(1, ${MANY}) as i`,
    [w.tenant.id],
  );
  await sql().query('analyze api_keys, workflows');
  const { rows: impact, statements } = await observed(
    async () => (await perform(operationById('team.impact'), boss, { id: admin.actor.id })).output as { made: { id: string }[] },
  );
  assert.deepEqual(
    impact.made.map(({ id }) => id),
    [webhook.id],
  );
  for (const table of ['api_keys', 'workflows']) {
    const asked = statements.filter(({ text }) => new RegExp(`\\b${table} [rk]\\b[^]*made_by = `).test(text));
    assert.ok(asked.length > 0, table);
    for (const { text, values } of asked) {
      const { rows } = await sql().query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(plan, new RegExp(`Scan (?:using|on) ${table}_made_by\\b`), plan);
      assert.doesNotMatch(plan, new RegExp(`Seq Scan on ${table}\\b`), plan);
    }
  }
});
