import assert from 'node:assert/strict';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { flushCalls } from '../governance/log/writer.ts';
import { askAgent, frames, makeAgent, makeToken } from './ai.fixture.ts';

// What calls cost that reached a provider and have no whole answer (interface rule 51 §9.5): no way around a budget leads through them.

await testDatabase();
const running = await startGateway();

type Provider = (req: IncomingMessage, res: ServerResponse) => void;
const HELD: Provider = () => undefined;
const RESET: Provider = (req) => void req.socket.destroy();
const PART: Provider = (_, res) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': 8_000 });
  res.write('x'.repeat(4_000));
};
const STREAM: Provider = (_, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of frames('word '.repeat(100)).slice(0, 90)) res.write(frame);
};
const cut =
  (provider: Provider): Provider =>
  (req, res) => {
    provider(req, res);
    res.write('\n', () => setImmediate(() => res.destroy()));
  };

/** 100 kB: 25,000 tokens of input, which cost a cent. */
const CONTENT = 'word '.repeat(20_000);
const INPUT = CONTENT.length / 4;
const bodyOf = (stream: boolean) => ({ model: 'gpt-test', max_tokens: 10, stream, messages: [{ role: 'user', content: CONTENT }] });

async function setUp(provider: Provider, agent: object = {}, at?: string) {
  const w = await workspace();
  const upstream = await startUpstream(provider);
  const made = await makeAgent(w, at === undefined ? upstream : { url: at }, agent as never);
  const price = {
    provider: 'openai-compatible',
    model: 'gpt-test',
    effective_from: new Date(0),
    input_per_mtok: 0.4,
    output_per_mtok: 100,
  };
  await db().ai_prices.create({ data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, ...price } });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const rows = async () => {
    await flushCalls();
    return db().ai_request_logs.findMany({ where: { tenant_id: w.tenant.id } });
  };
  const spent = async () => {
    const where = { tenant_id: w.tenant.id, subject_type: 'agent', period: 'day' };
    return (await db().ai_spend_counters.findFirst({ where }))?.spent_nano ?? 0n;
  };
  return { w, upstream, made, text, rows, spent };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

/** A call whose caller goes away once `when` holds of what it has got. */
async function leave({ w, made, text, upstream }: SetUp, stream: boolean, waitsForAnswer: boolean): Promise<void> {
  const headers = { host: `${w.tenant.slug}.localhost`, authorization: `Bearer ${text}`, 'content-type': 'application/json' };
  const path = `/v1/ai/${made.agent.slug}/v1/chat/completions`;
  const sent = request({ port: running.port, host: '127.0.0.1', method: 'POST', path, headers, agent: false });
  sent.on('error', () => undefined);
  let got = 0;
  sent.on('response', (res) => res.on('error', () => undefined).on('data', (bytes: Buffer) => (got += bytes.length)));
  const before = upstream.seen.length;
  sent.end(JSON.stringify(bodyOf(stream)));
  await until(() => upstream.seen.length > before && (!waitsForAnswer || got > 10_000));
  sent.destroy();
}

const GONE: Readonly<Record<string, { provider: Provider; stream?: boolean; output?: number }>> = {
  'before the first byte': { provider: HELD },
  'before the first event of a stream': { provider: HELD, stream: true },
  'in the middle of a stream': { provider: STREAM, stream: true, output: 40 },
};

for (const [name, { provider, stream = false, output = 0 }] of Object.entries(GONE))
  test(`a caller who goes away ${name} pays for what was sent and seen, and meets the budget`, async () => {
    const made = await setUp(provider, { budget_daily_usd: 0.01 });
    await leave(made, stream, output > 0);
    await until(async () => (await made.rows()).length === 1);
    const [row] = await made.rows();
    assert.deepEqual([row?.status, (row?.usage as { source?: string } | null)?.source], ['client_closed', 'estimated']);
    assert.ok(Number(row?.input_tokens) >= INPUT && Number(row?.output_tokens) >= output, `${row?.input_tokens} ${row?.output_tokens}`);
    assert.ok((await made.spent()) >= 10_000_000n);
    const next = await askAgent(running, made.w, made.made.agent, made.text, bodyOf(false));
    assert.deepEqual([next.status, next.json().code], [429, 'budget_exceeded'], next.body);
  });

test('a caller who goes away in the middle of a whole answer pays for what was sent and seen', async () => {
  const made = await setUp(PART);
  await leave(made, false, false);
  await until(async () => (await made.rows()).length === 1);
  const [row] = await made.rows();
  assert.equal(row?.status, 'client_closed');
  assert.ok(Number(row?.input_tokens) >= INPUT, String(row?.input_tokens));
});

const BROKEN: Readonly<Record<string, { provider: Provider; stream?: boolean; output?: number; routing?: object; attempts?: number }>> = {
  'a timeout': { provider: HELD, routing: { attempt_timeout_ms: 1_000 } },
  'a reset before the head': { provider: RESET },
  'a reset in the middle of a whole answer': { provider: cut(PART), output: 1_000 },
  'a reset in the middle of a stream': { provider: cut(STREAM), stream: true, output: 40 },
  'timeouts of three attempts': {
    provider: HELD,
    routing: { attempt_timeout_ms: 1_000, max_attempts: 3, retry_on: ['timeout'] },
    attempts: 3,
  },
  'resets of three attempts': { provider: RESET, routing: { max_attempts: 3, retry_on: ['5xx'] }, attempts: 3 },
  'a compressed answer': {
    provider: (_, res) => void res.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end('x'),
  },
};

for (const [name, { provider, stream = false, output = 0, routing = {}, attempts = 1 }] of Object.entries(BROKEN))
  test(`a call that ends by ${name} is charged with what was sent and seen`, async () => {
    const routing_policy = { backoff_ms: 1, ...routing };
    const made = await setUp(provider, { routing_policy });
    await askAgent(running, made.w, made.made.agent, made.text, bodyOf(stream));
    const [row] = await made.rows();
    assert.equal(row?.attempts, attempts);
    assert.ok(Number(row?.input_tokens) >= attempts * INPUT, String(row?.input_tokens));
    assert.ok(Number(row?.input_tokens) < (attempts + 1) * INPUT, `each attempt once: ${row?.input_tokens}`);
    assert.ok(Number(row?.output_tokens) >= output, String(row?.output_tokens));
    assert.ok((await made.spent()) >= BigInt(attempts) * 10_000_000n);
  });

test('a provider that is not reached, and one that refuses or fails, costs nothing', async () => {
  const failing =
    (status: number): Provider =>
    (_, res) =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
  const all = [
    await setUp(HELD, {}, 'http://127.0.0.1:9'),
    await setUp(failing(400)),
    await setUp(failing(500)),
    await setUp(failing(401)),
  ];
  for (const made of all) {
    assert.notEqual((await askAgent(running, made.w, made.made.agent, made.text, bodyOf(false))).status, 200);
    const [row] = await made.rows();
    assert.deepEqual([Number(row?.input_tokens), await made.spent()], [0, 0n]);
  }
});
