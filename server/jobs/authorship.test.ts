import assert from 'node:assert/strict';
import test from 'node:test';
import { asMember } from '#server/domain/team/members.fixture.ts';
import { definitionOf, executionOf, started, stored } from '#server/domain/workflows/engine/running.fixture.ts';
import { newId } from '#server/kernel/ids.ts';
import { FIRST_ID, fillAuthorship, upgradedSince } from '#server/platform/authorship.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

// What machines of the release before write beside this one: their transactions don't set app.maker and name none of the new columns.

await ownDatabase();
const query = <R extends object>(text: string, values: unknown[]) => sql().query<R>(text, values);
const definition = definitionOf({ a: ['delay', { amount: 1, unit: 'seconds' }] }, ['trigger>a']);
const other = definitionOf({ b: ['delay', { amount: 2, unit: 'seconds' }] }, ['trigger>b']);
const authorityOfRow = async (id: string) => (await db().workflows.findUniqueOrThrow({ where: { id } })).authority as { id: string } | null;

test('a thousand workflows without an authority are filled in batches, once, past those that nobody is known of', async () => {
  const w = await workspace();
  const owner = await asMember(w.member('owner'));
  await sql().query(
    `insert into workflows (id, tenant_id, sandbox, name, created_by, updated_at)
     select gen_random_uuid(), $1, false, 'w ' || i, case when i % 2 = 0 then $2::uuid end, now() from generate_series(1, 2000) as i`,
    [w.tenant.id, owner.actor.id],
  );
  const known = () => db().workflows.count({ where: { tenant_id: w.tenant.id, made_by: owner.actor.id as string } });
  assert.ok((await fillAuthorship(query, FIRST_ID)) >= 2_000);
  assert.equal(await known(), 1_000);
  const { rows } = await sql().query<{ n: number }>(
    `select count(*)::int as n from workflows where tenant_id = $1 and authority ->> 'id' = $2`,
    [w.tenant.id, owner.actor.id],
  );
  assert.equal(rows[0]?.n, 1_000);
  assert.equal(await fillAuthorship(query, FIRST_ID), 0);
});

test('a run names who published the workflow; of a draft, who started it; and nobody where a machine of this release says so', async () => {
  const w = await workspace();
  const owner = await asMember(w.member('owner'));
  const workflow = await stored(owner, definition);
  const starter = newId();
  const start = async (version: number | null, authorities?: string) => {
    const id = newId();
    await sql().query(
      `insert into workflow_executions (id, tenant_id, sandbox, workflow_id, workflow_version, trigger_type, triggered_by, timeout_seconds, value_ct, cek_wrapped, tmk_version
         ${authorities === undefined ? '' : ', authorities'})
       values ($1, $2, false, $3, $4, 'manual', $5, 60, '\\x00', '\\x00', 1 ${authorities === undefined ? '' : ', $6'})`,
      [
        id,
        w.tenant.id,
        workflow.id,
        version,
        { type: 'user', id: starter, label: 'x' },
        ...(authorities === undefined ? [] : [authorities]),
      ],
    );
    return ((await executionOf(id)).authorities as { id: string }[]).map((one) => one.id);
  };
  assert.deepEqual(await start(1), [owner.actor.id]);
  assert.deepEqual(await start(null), [starter]);
  assert.deepEqual(await start(1, '[]'), []);
});

test('who changes what a workflow does on a machine of the release before stands behind it, and behind the runs that wait for them', async () => {
  const w = await workspace();
  const [first, second] = [await asMember(w.member('owner')), await asMember(w.member('admin'))];
  const workflow = await made(first, 'workflows.create', { name: 'w', definition, enabled: false });
  assert.equal((await authorityOfRow(workflow.id))?.id, first.actor.id);
  await sql().query(`update workflows set name = 'x' where id = $1`, [workflow.id]);
  assert.equal((await authorityOfRow(workflow.id))?.id, first.actor.id);
  await sql().query('update workflows set definition = $2 where id = $1', [workflow.id, other]);
  assert.equal(await authorityOfRow(workflow.id), null, 'the right of one person is not behind the words of another');
  const row = await db().workflows.findUniqueOrThrow({ where: { id: workflow.id } });
  const run = await started(first, row, null, { authorities: [] });
  await sql().query(
    `insert into audit_logs (id, tenant_id, sandbox, action, resource_type, resource_id, details, actor_type, actor_id, actor_label)
     values ($1, $2, false, 'update', 'workflow', $3, '{"changes": [{"field": "definition", "changed": true}]}', 'user', $4, 'second'),
       ($5, $2, false, 'update', 'workflow', $3, '{"changes": [{"field": "name"}]}', 'user', $6, 'first')`,
    [newId(), w.tenant.id, workflow.id, second.actor.id, newId(), first.actor.id],
  );
  await fillAuthorship(query, (await upgradedSince(query)) ?? FIRST_ID);
  assert.equal((await authorityOfRow(workflow.id))?.id, second.actor.id);
  assert.deepEqual(
    ((await executionOf(run)).authorities as { id: string }[]).map(({ id }) => id),
    [second.actor.id],
  );
});

test('a key that a machine of the release before rotates stays bound by the policies of the key it replaces', async () => {
  const w = await workspace();
  const old = await w.key('live', 'Key - Infrastructure');
  const id = newId();
  const rule = {
    name: 'no calls',
    actions: ['proxy:invoke'],
    subjects: { api_key_ids: [old.row.id] },
    resources: [old.row.id],
    space: 'both',
  };
  await db().tenant_policies.create({ data: { id, tenant_id: w.tenant.id, ...rule } });
  const since = newId();
  const successor = await w.key('live', 'Key - Infrastructure', { replaces_key_id: old.row.key_id });
  assert.ok((await fillAuthorship(query, since)) > 0);
  const bound = await db().tenant_policies.findUniqueOrThrow({ where: { id } });
  assert.deepEqual(bound.subjects, { api_key_ids: [old.row.id, successor.row.id] });
  assert.deepEqual(bound.resources, [old.row.id, successor.row.id]);
});

test('the worker fills for a day after the upgrade', async () => {
  const began = (ago: string) => sql().query('update _prisma_migrations set finished_at = now() - $1::interval', [ago]);
  await began('23 hours');
  const since = await upgradedSince(query);
  assert.ok(since !== null && since < newId() && since > FIRST_ID);
  await began('25 hours');
  assert.equal(await upgradedSince(query), null);
});
