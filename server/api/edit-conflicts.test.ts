import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { samples } from '#server/testing/samples.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { perform } from './perform.ts';

/** What the dashboard promises to two people who edit the same thing (interface rule 70 §3.5). What holds for every edit is in testing/suites/edits.ts. */
await testDatabase();
/** A person's call of its own: each has its own clock, as two requests do. */
const person = (w: Workspace): Ctx => w.ctx('live', memberActor('owner'));
const audits = (w: Workspace) => db().audit_logs.count({ where: { tenant_id: w.tenant.id } });

test('a version that shares its millisecond with the edit is still replaced by a later one', async () => {
  const w = await workspace();
  const made_at = person(w);
  const { id } = await made(made_at, 'environments.create', { name: 'staging' });
  const row = await db().environments.findUniqueOrThrow({ where: { id } });
  const frozen = { ...person(w), now: row.updated_at };
  const expected_updated_at = row.updated_at.toISOString();
  await perform(operationById('environments.update'), frozen, { id, description: 'first', expected_updated_at });
  await assert.rejects(
    perform(operationById('environments.update'), frozen, { id, description: 'second', expected_updated_at }),
    /while you were editing/,
  );
});

test('a version that is no time, or that a call without a row names, is refused before anything happens', async () => {
  const w = await workspace();
  const input = await samples['routes.update']!(person(w));
  for (const expected_updated_at of ['yesterday', 17, null, '', '2026-13-45T00:00:00Z'])
    await assert.rejects(
      perform(operationById('routes.update'), person(w), { ...input, expected_updated_at }),
      /^Refusal: expected_updated_at/,
    );
  const count = await audits(w);
  await assert.rejects(
    perform(operationById('routes.delete'), person(w), { id: input.id, expected_updated_at: new Date().toISOString() }),
    /^Refusal: expected_updated_at/,
  );
  assert.equal(await audits(w), count);
});

test('on /v1 the field is unknown like any other: the last write wins', async () => {
  const w = await workspace();
  const { text: key } = await w.key('live');
  const { id } = await made(w.live, 'routes.create', { name: 'Payments', target_base_url: 'http://127.0.0.1:9' });
  const answer = await call('PATCH', `/routes/${id}`, { key, body: { name: 'Later', expected_updated_at: '2020-01-01T00:00:00.000Z' } });
  assert.deepEqual([answer.status, answer.body.data.name], [200, 'Later']);
  const nothing = await call('PATCH', `/routes/${id}`, { key, body: { expected_updated_at: '2020-01-01T00:00:00.000Z' } });
  assert.equal(nothing.body.error.type, 'validation_error');
});
