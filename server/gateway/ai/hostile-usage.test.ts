import assert from 'node:assert/strict';
import test from 'node:test';
import { AiRequest, ListAiRequests } from '#server/domain/ai-spend/requests/schema.ts';
import { listRequests } from '#server/domain/ai-spend/requests/service.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, makeAgent, makeToken } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();

const recording =
  '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n' +
  `--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n${'a'.repeat(200_000)}\r\n--x--\r\n`;
const upload = { path: '/v1/audio/transcriptions', headers: { 'content-type': 'multipart/form-data; boundary=x' } };
const chat = { model: 'gpt-4o', messages: [{ role: 'user', content: 'x'.repeat(40_000) }] };
const message = '"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]';

test('numbers of a provider that nobody can keep are estimated: each call has its row, its charge and its place in the log', async () => {
  const w = await workspace();
  let reply = '';
  const upstream = await startUpstream((_, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(reply);
  });
  const made = await makeAgent(w, upstream, { provider: 'openai', budget_daily_usd: '1000' });
  const { text: token } = await makeToken(w, made);
  await served(running, w);
  const spent = async () => {
    const { rows } = await sql().query<{ nano: string }>(
      "select coalesce(sum(spent_nano), 0) as nano from ai_spend_counters where subject_id = $1 and period = 'day'",
      [made.agent.id],
    );
    return Number(rows[0]?.nano);
  };
  for (const number of ['1e400', '1e300', '9007199254740993', '1e15', '"600"'])
    for (const [body, text, options, least] of [
      // 200,000 bytes at 2,000 a second, and 0.006 USD a minute.
      [recording, `{"text":"Hi","duration":${number}}`, upload, 10_000_000],
      // 10,000 tokens at 2.50 USD a million.
      [chat, `{${message},"usage":{"prompt_tokens":${number},"completion_tokens":1}}`, {}, 25_000_000],
    ] as const) {
      reply = text;
      const before = await spent();
      const answer = await askAgent(running, w, made.agent, token, body, options);
      assert.equal(answer.status, 200, answer.body.slice(0, 300));
      await running.flush();
      const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: String(answer.headers['x-svc-request-id']) } });
      const cost = Number(row.cost_nano);
      assert.ok(cost >= least && cost < 1.1 * least, `${text}: ${cost}`);
      assert.equal((await spent()) - before, cost, text);
      assert.equal((row.usage as { source: string }).source, 'estimated', text);
    }
  const { rows } = await listRequests(w.live, ListAiRequests.parse({}));
  assert.equal(rows.length, 10);
});

test('the log shows rows whose usage an earlier release could not keep', async () => {
  const w = await workspace();
  const made = await makeAgent(w, { url: 'http://127.0.0.1:9' });
  const usage = [{ input_uncached: 5, seconds_audio: null, source: 'provider' }, { seconds_audio: 'x' }, {}, null, 7];
  for (const [n, one] of usage.entries())
    await sql().query(
      `insert into ai_request_logs (id, tenant_id, sandbox, request_id, ts, plane, status, origin, usage)
        values (gen_random_uuid(), $1, false, gen_random_uuid(), $2, 'ai', 'ok', 'upstream', $3)`,
      [made.agent.tenant_id, new Date(Date.now() - 1_000 * n), JSON.stringify(one)],
    );
  const { rows } = await listRequests(w.live, ListAiRequests.parse({}));
  const shown = rows.map(({ usage: one }) => AiRequest.shape.usage.parse(one));
  assert.deepEqual(
    shown.map((one) => one && [one.input_uncached, one.seconds_audio, one.source]),
    [[5, 0, 'provider'], [0, 0, 'estimated'], [0, 0, 'estimated'], null, null],
  );
});
