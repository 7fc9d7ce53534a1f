import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { insertCalls } from './calls.fixture.ts';
import { noticeFailingUpstreams, noticeUnpricedModels } from './jobs/alerts.ts';

await testDatabase();

test('every kind of alert that is given is in the list', async () => {
  const w = await workspace();
  const now = new Date();
  const ts = new Date(now.getTime() - 60_000).toISOString();
  const [unpriced, failing] = [newId(), newId()];
  await insertCalls(sql(), w.live, [
    { agent_id: unpriced, ts },
    ...Array.from({ length: 20 }, () => ({ agent_id: failing, ts, attempts: 1, status: 'upstream_error' })),
  ]);
  const data = { warnings: ['unpriced_model'], provider: 'openai', final_model: 'new-model' };
  await db().ai_request_logs.updateMany({ where: { agent_id: unpriced }, data });
  await noticeUnpricedModels(now);
  await noticeFailingUpstreams(now);
  const answer = await call('GET', '/ai-gateway/alerts', { key: (await w.key()).text });
  assert.equal(answer.status, 200, answer.text);
  const shown = (answer.body.data as Record<string, unknown>[]).map(({ kind, subject_id, provider, model, error_rate }) => [
    ...[kind, subject_id, provider, model, error_rate],
  ]);
  assert.deepEqual(shown.sort(), [
    ['unpriced', unpriced, 'openai', 'new-model', null],
    ['upstream', failing, null, null, 1],
  ]);
});
