import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/made.ts';
import { samples } from '#server/testing/samples.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { operations } from './operations.ts';
import { perform } from './perform.ts';

/** What the dashboard promises to two people who edit the same thing (interface rule 70 §3.5), for every operation that edits one row. */
await testDatabase();
const edits = operations.filter((op) => op.edits);
/** A person's call of its own: each has its own clock, as two requests do. */
const person = (w: Workspace): Ctx => w.ctx('live', memberActor('owner'));
const audits = (w: Workspace) => db().audit_logs.count({ where: { tenant_id: w.tenant.id } });

const versionOf = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>) =>
  (await read(ctx, (tx) => op.edits!.row(tx, ctx, input))).updated_at.toISOString();

const refusalOf = (result: PromiseSettledResult<unknown>): Refusal => {
  assert.ok(result.status === 'rejected' && result.reason instanceof Refusal, JSON.stringify(result));
  return result.reason;
};

test('every form of the dashboard that edits a row is guarded', () => {
  assert.deepEqual(edits.map((op) => op.id).sort(), [
    'account.update',
    'api_keys.update',
    'clients.update',
    'collections.environment_defaults.put',
    'collections.update',
    'collections.variables.update',
    'environments.update',
    'routes.environments.put',
    'routes.update',
    'secrets.update',
  ]);
});

describe('an edit that started from an older version changes nothing and is told what the row is now', () => {
  for (const op of edits)
    test(op.id, async () => {
      const w = await workspace();
      const input = await samples[op.id]!(person(w));
      const started = await versionOf(op, person(w), input);
      await perform(op, person(w), { ...input, expected_updated_at: started });
      const [now, count] = [await versionOf(op, person(w), input), await audits(w)];
      assert.notEqual(now, started, 'a saved edit is a new version');
      const [late] = await Promise.allSettled([perform(op, person(w), { ...input, expected_updated_at: started })]);
      const refusal = refusalOf(late!);
      assert.deepEqual([refusal.type, refusal.status, refusal.extra?.current_updated_at], ['conflict', 409, now]);
      assert.deepEqual(refusal.extra?.current, (await perform(op.edits!.shown_by, person(w), input)).output);
      assert.deepEqual([await versionOf(op, person(w), input), await audits(w)], [now, count], 'nothing was written');
      await perform(op, person(w), { ...input, expected_updated_at: now });
    });
});

describe('of two people who save at the same moment exactly one wins', () => {
  for (const op of edits)
    test(op.id, async () => {
      const w = await workspace();
      const input = await samples[op.id]!(person(w));
      const expected_updated_at = await versionOf(op, person(w), input);
      const before = await audits(w);
      const results = await Promise.allSettled([1, 2, 3, 4].map(() => perform(op, person(w), { ...input, expected_updated_at })));
      const lost = results.filter((r) => r.status === 'rejected').map(refusalOf);
      assert.deepEqual(
        lost.map((r) => r.type),
        ['conflict', 'conflict', 'conflict'],
      );
      assert.equal(await audits(w), before + 1, 'one change, one entry');
    });
});

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

test('an edit of what another workspace owns is not found, whatever version it names', async () => {
  const [mine, theirs] = [await workspace(), await workspace()];
  for (const op of edits.filter((o) => o.http.includes('{'))) {
    const input = await samples[op.id]!(person(theirs));
    const expected_updated_at = await versionOf(op, person(theirs), input);
    for (const guess of [expected_updated_at, '2020-01-01T00:00:00.000Z'])
      await assert.rejects(perform(op, person(mine), { ...input, expected_updated_at: guess }), { type: 'not_found' }, op.id);
  }
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
