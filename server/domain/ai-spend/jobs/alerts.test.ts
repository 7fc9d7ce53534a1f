import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { workspace } from '#server/testing/workspace.ts';
import { insertCalls } from '../calls.fixture.ts';
import { noticeFailingUpstreams, noticeUnpricedModels, raiseWaitingAlerts } from './alerts.ts';

await ownDatabase();

test('a model or a tier without a price that passed a budget is told of, once a day for each agent and model', async () => {
  const w = await workspace();
  const events = await watchEvents(w.live, 'ai.model.unpriced');
  const [passed, priced] = [newId(), newId()];
  const now = new Date();
  const ts = new Date(now.getTime() - 60_000).toISOString();
  await insertCalls(sql(), w.live, [...Array.from({ length: 3 }, () => ({ agent_id: passed, ts })), { agent_id: priced, ts }]);
  const data = { warnings: ['unpriced_model'], provider: 'openai', final_model: 'new-model' };
  await db().ai_request_logs.updateMany({ where: { agent_id: passed }, data });
  const fast = newId();
  await insertCalls(sql(), w.live, [{ agent_id: fast, ts, provider: 'xai', model: 'grok' }]);
  await db().ai_request_logs.updateMany({ where: { agent_id: fast }, data: { warnings: ['unpriced_tier'] } });
  assert.equal(await noticeUnpricedModels(now), 2);
  assert.equal(await noticeUnpricedModels(now), 0, 'the same day');
  assert.equal(await raiseWaitingAlerts(db(), new Date(now.getTime() + 6_000)), 2);
  assert.deepEqual(
    new Set((await events()).map(({ data: { agent_id, provider, model } }) => `${agent_id} ${provider} ${model}`)),
    new Set([`${passed} openai new-model`, `${fast} xai grok`]),
  );
});

test('an agent whose provider fails more than half of at least twenty calls in five minutes is told of, once an hour', async () => {
  const w = await workspace();
  const events = await watchEvents(w.live, 'ai.upstream.failing');
  const [failing, half, rare, refused, unsent] = [newId(), newId(), newId(), newId(), newId()];
  const now = new Date();
  const calls = (agent_id: string, statuses: Record<string, number>, ago = 60_000, attempts = 1) =>
    insertCalls(
      sql(),
      w.live,
      Object.entries(statuses).flatMap(([status, n]) =>
        Array.from({ length: n }, () => ({ agent_id, status, attempts, ts: new Date(now.getTime() - ago).toISOString() })),
      ),
    );
  await calls(failing, { upstream_error: 8, stream_failed: 3, ok: 9 });
  await calls(half, { upstream_error: 10, ok: 10 });
  await calls(rare, { upstream_error: 19 });
  await calls(rare, { upstream_error: 5 }, 6 * 60_000);
  await calls(refused, { refused: 30, upstream_error: 5 });
  // Of our own making, such as a missing secret: nothing was sent.
  await calls(unsent, { upstream_error: 30 }, 60_000, 0);
  await calls(unsent, { ok: 19 });
  assert.equal(await noticeFailingUpstreams(now), 1);
  assert.equal(await noticeFailingUpstreams(now), 0, 'the same hour');
  assert.equal(await raiseWaitingAlerts(db(), new Date(now.getTime() + 1_000)), 0, 'a gateway may still raise what it gave');
  const later = new Date(now.getTime() + 6_000);
  const raised = await Promise.all([raiseWaitingAlerts(db(), later), raiseWaitingAlerts(db(), later)]);
  assert.equal(raised[0] + raised[1], 1);
  assert.deepEqual(
    (await events()).map(({ about, data }) => [about, data.calls, data.failed, data.error_rate]),
    [[failing, 20, 11, 0.55]],
  );
});
