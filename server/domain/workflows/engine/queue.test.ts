import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startAutomatically } from '../starts.ts';
import { definitionOf, type StoredWorkflow, started, stored } from './running.fixture.ts';
import { claim } from './store.ts';

// What waits, and who is next. No worker runs in this file.

await ownDatabase();

const definition = definitionOf({ a: ['transform', { template: 1 }] }, ['trigger>a']);
/** Runs that wait, as they are stored. */
const waiting = ({ id, tenant_id, sandbox }: StoredWorkflow, n: number, status = 'queued') =>
  sql().query(
    `insert into workflow_executions (id, tenant_id, sandbox, workflow_id, workflow_version, status, trigger_type, triggered_by, timeout_seconds, value_ct, cek_wrapped, tmk_version)
     select gen_random_uuid(), $2, $3, $1, 1, $5, 'api', '{}', 300, '', '', 1 from generate_series(1, $4::int)`,
    [id, tenant_id, sandbox, n, status],
  );
const start = (ctx: Ctx, workflow: StoredWorkflow) =>
  startAutomatically(ctx, workflow, {
    ...{ id: newId(), trigger_type: 'proxy_event', label: 'request.server_error' },
    input: { type: 'request.server_error', data: {}, timestamp: ctx.now.toISOString() },
  });

test('at most 10,000 runs of a workspace wait: whoever asks for one more is refused, and a trigger counts what it drops', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const [full, free] = [await stored(w.live, definition), await stored(other.live, definition)];
  await waiting(full, 9_999);
  await started(w.live, full);
  await assert.rejects(started(w.live, full), { type: 'rate_limited' });
  const next = await stored(w.live, definition);
  assert.deepEqual([await start(w.live, next), await start(w.live, next), await start(other.live, free)], [false, false, true]);
  assert.equal(Number((await db().workflows.findUniqueOrThrow({ where: { id: next.id } })).dropped_count), 2);
  await sql().query(
    "update workflow_executions set status = 'completed' where id = (select id from workflow_executions where workflow_id = $1 limit 1)",
    [full.id],
  );
  assert.equal(await start(w.live, next), true);
});

test('at most fifty runs of a workspace and ten of a workflow are claimed, and workspaces take turns', async () => {
  await sql().query('delete from workflow_executions');
  const [crowded, calm] = [await workspace(), await workspace()];
  const many = await Promise.all(Array.from({ length: 8 }, () => stored(crowded.live, definition)));
  for (const workflow of many) await waiting(workflow, 12);
  const few = await stored(calm.live, definition);
  await waiting(few, 3);
  const claimed = async (free: number) => {
    const rows = await claim(sql(), newId(), free, new Date());
    const of = (tenant: string) => rows.filter(({ tenant_id }) => tenant_id === tenant);
    const perWorkflow = Map.groupBy(rows, ({ workflow_id }) => workflow_id);
    return {
      crowded: of(crowded.tenant.id).length,
      calm: of(calm.tenant.id).length,
      most: Math.max(0, ...[...perWorkflow.values()].map((one) => one.length)),
    };
  };
  const first = await claimed(4);
  assert.deepEqual([first.crowded, first.calm], [2, 2], 'two places each');
  const second = await claimed(200);
  assert.deepEqual([second.crowded, second.calm], [48, 1]);
  assert.ok(second.most <= 10, String(second.most));
  assert.deepEqual(await claimed(200), { crowded: 0, calm: 0, most: 0 }, 'the others wait for an end');
  await sql().query("update workflow_executions set status = 'completed' where status = 'running' and tenant_id = $1", [crowded.tenant.id]);
  assert.equal((await claimed(200)).crowded, 46, 'what is left of 96');
});
