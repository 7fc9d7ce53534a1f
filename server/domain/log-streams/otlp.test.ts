import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import test, { after } from 'node:test';
import { insert, row } from '#server/domain/request-logs/rows.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { startCollector } from './collector.fixture.ts';
import { shipStream } from './shipping.ts';

await testDatabase();

const ship = (w: Workspace, id: string) =>
  shipStream(
    { resource_id: id, tenant_id: w.tenant.id, sandbox: false, attempts: 0, version: 0 },
    new AbortController().signal,
    new Date(Date.now() + 60_000),
  );
/** Ships until something holds. An open transaction anywhere on the database server, those of other test files too, holds the feed of deliveries back. */
const shipped = (w: Workspace, id: string, holds: () => boolean) =>
  until(async () => {
    await ship(w, id);
    return holds();
  }, 'it is sent');
const owner = (w: Workspace) => w.ctx('live', memberActor('owner'));
const stream = (w: Workspace, endpoint: string, source: string, kind = 'otlp') =>
  made(owner(w), 'log_streams.create', { name: fresh(source), source, kind, endpoint });

/** A webhook whose receiver is not there, tested: one attempt in its log. */
async function tested(w: Workspace, times = 1) {
  const webhook = await made(w.live, 'webhooks.create', {
    name: fresh('hook'),
    url: 'http://127.0.0.1:65001/x?token=a-secret',
    event_types: ['audit.event'],
  });
  for (let i = 0; i < times; i++) await made(w.live, 'webhooks.test', { id: webhook.id });
  return webhook;
}

test('calls go out as spans, one each, failed ones marked', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  const { id } = await stream(w, collector.url, 'traces');
  await insert([
    row(w.tenant.id, { path: '/ok' }),
    row(w.tenant.id, { path: '/down', status_code: 502 }),
    row(w.tenant.id, { sandbox: true }),
  ]);
  await ship(w, id);
  const [request, ...more] = collector.requests;
  assert.equal(more.length, 0);
  assert.equal(request?.path, '/v1/traces');
  const { resourceSpans } = JSON.parse(request?.body ?? '');
  const { spans } = resourceSpans[0].scopeSpans[0];
  const calls = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id, sandbox: false }, orderBy: { id: 'asc' } });
  assert.deepEqual(
    spans.map((span: Record<string, unknown>) => [span.traceId, span.kind, span.status]),
    [
      [calls[0]?.request_id.replaceAll('-', ''), 2, {}],
      [calls[1]?.request_id.replaceAll('-', ''), 2, { code: 2 }],
    ],
  );
  for (const { traceId, spanId, startTimeUnixNano, endTimeUnixNano } of spans) {
    assert.match(traceId, /^[0-9a-f]{32}$/);
    assert.match(spanId, /^[0-9a-f]{16}$/);
    assert.equal(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano), 12_000_000n);
  }
  await assert.rejects(stream(w, collector.url, 'traces', 'https'), { type: 'validation_error' });
});

test('what was sent to webhooks goes out once each, with its outcome and without credentials', async () => {
  const [w, other, collector] = [await workspace(), await workspace(), await startCollector()];
  await tested(w);
  const { id } = await stream(w, collector.url, 'deliveries');
  const webhook = await tested(w, 3);
  await tested(other);
  const sent = () => collector.requests.flatMap(({ body }) => JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords);
  await shipped(w, id, () => sent().length >= 3);
  await ship(w, id);
  const records = sent();
  assert.equal(records.length, 3, 'from the creation of the stream on, each once');
  for (const { eventName, severityText, attributes } of records) {
    assert.deepEqual([eventName, severityText], ['svc.webhook.delivery', 'ERROR']);
    const of = Object.fromEntries(attributes.map(({ key, value }: { key: string; value: object }) => [key, Object.values(value)[0]]));
    assert.deepEqual(
      [of['svc.webhook.id'], of['svc.webhook.event_type'], of['svc.webhook.success'], of['svc.webhook.retry_count']],
      [webhook.id, 'webhook.test', false, '0'],
    );
  }
  assert.ok(!collector.requests.some(({ body }) => body.includes('a-secret')));
});

test('a delivery whose transaction ends late is sent all the same', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  const { id } = await stream(w, `${collector.url}/in`, 'deliveries', 'https');
  const webhook = await tested(w);
  const [known] = await db().webhook_attempts.findMany({ where: { webhook_id: webhook.id } });
  assert.ok(known);
  const { pg } = await lateTransaction(async (client) => {
    await client.query(
      `insert into webhook_attempts (id, tenant_id, sandbox, webhook_id, delivery_id, event_id, event_type, trigger, attempt, success, executed_at)
       select gen_random_uuid(), tenant_id, sandbox, webhook_id, delivery_id, event_id, 'audit.event', 'event', 1, true, now() from webhook_attempts where id = $1`,
      [known.id],
    );
    // Written after it, and committed before.
    await made(w.live, 'webhooks.test', { id: webhook.id });
    await ship(w, id);
  });
  await pg.end();
  const sent = () =>
    collector.requests.flatMap(({ body }) =>
      body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id as string),
    );
  await shipped(w, id, () => sent().length >= 3);
  await ship(w, id);
  const stored = await db().webhook_attempts.findMany({ where: { webhook_id: webhook.id }, select: { id: true } });
  assert.deepEqual(sent().sort(), stored.map((one) => one.id).sort());
});

async function lateTransaction(work: (client: import('pg').Client) => Promise<void>) {
  const { Client } = (await import('pg')).default;
  const { connection } = await import('#server/platform/sql.ts');
  const pg = new Client(connection());
  await pg.connect();
  await pg.query('begin');
  await work(pg);
  await pg.query('commit');
  return { pg };
}

// The collector's own reader of OTLP (scripts/otlp-judge). Named by OTLP_JUDGE_BIN; without it the test is skipped.
const BIN = process.env.OTLP_JUDGE_BIN;
let judge: ChildProcess | undefined;
after(() => void judge?.kill('SIGKILL'));

test("the OpenTelemetry Collector's own library reads every signal as it is meant", {
  skip: BIN ? false : 'OTLP_JUDGE_BIN names no judge',
}, async () => {
  judge = spawn(BIN ?? '', [], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(judge.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const [w, collector] = [await workspace(), await startCollector()];
  const streams = [];
  for (const source of ['audit', 'requests', 'traces', 'deliveries']) streams.push((await stream(w, collector.url, source)).id);
  await insert([
    row(w.tenant.id, { path: '/a', status_code: 404 }),
    row(w.tenant.id, { path: '/b', status_code: null, error: 'upstream_timeout' }),
  ]);
  await tested(w);
  for (const id of streams) {
    const before = collector.requests.length;
    await shipped(w, id, () => collector.requests.length > before);
  }
  // biome-ignore lint/suspicious/noExplicitAny: what the judge read, by field name
  const read: Record<string, any>[] = [];
  for (const { path, body } of collector.requests) {
    const answer = await fetch(`http://${line.toString().trim()}${path}`, { method: 'POST', body });
    const { items, error } = (await answer.json()) as { items: object[]; error?: string };
    assert.deepEqual([answer.status, error], [200, undefined], body.slice(0, 300));
    read.push(...items);
  }
  const of = (event: string) => read.filter((one) => one.event === event);
  assert.ok(of('svc.audit').length >= 4);
  assert.deepEqual(
    of('svc.proxy.request').map(({ severity, attributes }) => [severity, attributes['url.path'], attributes['http.response.status_code']]),
    [
      ['Warn', '/a', 404],
      ['Error', '/b', undefined],
    ],
  );
  assert.deepEqual(
    of('svc.webhook.delivery').map(({ attributes }) => [attributes['svc.webhook.success'], attributes['svc.webhook.retry_count']]),
    [[false, 0]],
  );
  const spans = read.filter((one) => one.trace !== undefined);
  assert.deepEqual(
    spans.map(({ kind, status }) => [kind, status]),
    [
      ['Server', 'Unset'],
      ['Server', 'Error'],
    ],
  );
  assert.ok(spans.every(({ trace, span }) => /^[0-9a-f]{32}$/.test(trace) && /^[0-9a-f]{16}$/.test(span)));
});
