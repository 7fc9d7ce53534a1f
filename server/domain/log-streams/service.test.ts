import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { sweepLeases } from '#server/domain/leases/service.ts';
import { insert, row } from '#server/domain/request-logs/rows.fixture.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { startCollector } from './collector.fixture.ts';
import { leases, pauseAfter } from './leases.ts';
import { create, test as sendTest, update } from './operations.ts';
import { shipStream } from './shipping.ts';

await ownDatabase();

/** Past the time that the feeds trail the clock. */
const later = (ms = 60_000) => new Date(Date.now() + ms);
const ship = (w: Workspace, id: string, { sandbox = false, now = later() } = {}) =>
  shipStream({ resource_id: id, tenant_id: w.tenant.id, sandbox, attempts: 0, version: 0 }, new AbortController().signal, now);
const owner = (w: Workspace) => w.ctx('live', memberActor('owner'));
const stored = (id: string) => db().log_streams.findUniqueOrThrow({ where: { id } });
const lines = (body: string) =>
  body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('entries of the audit log arrive once each and in their order, from the creation of the stream on', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  await made(owner(w), 'environments.create', { name: fresh('before') });
  const { id } = await made(owner(w), 'log_streams.create', {
    name: 'siem',
    kind: 'https',
    endpoint: `${collector.url}/in`,
    headers: { 'X-Key': 'k' },
  });
  const environment = await made(owner(w), 'environments.create', { name: fresh('after') });
  await made(w.test, 'environments.create', { name: fresh('elsewhere') });
  await ship(w, id, { now: new Date() });
  assert.equal(collector.requests.length, 0, 'what may still be followed by something older waits');
  await ship(w, id);
  await ship(w, id);
  assert.equal(collector.requests.length, 1, 'nothing is sent twice');
  const [{ method, path, headers, body }] = collector.requests as [(typeof collector.requests)[0]];
  assert.deepEqual([method, path, headers['content-type'], headers['x-key']], ['POST', '/in', 'application/x-ndjson', 'k']);
  assert.deepEqual(
    lines(body).map(({ action, resource_type, resource_id }) => [action, resource_type, resource_id]),
    [
      ['create', 'log_stream', id],
      ['create', 'environment', environment.id],
    ],
  );
  const { sent_count, last_sent_at, failing_since } = await stored(id);
  assert.deepEqual([sent_count, last_sent_at !== null, failing_since], [2n, true, null]);
});

test('calls arrive with what the log says of them, and none of another workspace or space', async () => {
  const [w, other, collector] = [await workspace(), await workspace(), await startCollector()];
  const { id } = await made(owner(w), 'log_streams.create', {
    name: 'calls',
    source: 'requests',
    kind: 'otlp',
    endpoint: collector.url,
    headers: {},
  });
  await insert([
    row(w.tenant.id, { path: '/ok' }),
    row(w.tenant.id, { path: '/missing', status_code: 404 }),
    row(w.tenant.id, { path: '/silent', status_code: null, error: 'upstream_timeout' }),
    row(w.tenant.id, { path: '/in-test', sandbox: true }),
    row(other.tenant.id, { path: '/foreign' }),
  ]);
  await ship(w, id);
  const [request] = collector.requests;
  assert.equal(request?.path, '/v1/logs');
  const { resourceLogs } = JSON.parse(request?.body ?? '');
  const records = resourceLogs[0].scopeLogs[0].logRecords as {
    severityText: string;
    attributes: { key: string; value: object }[];
    timeUnixNano: string;
  }[];
  const attribute = (i: number, key: string) => records[i]?.attributes.find((one) => one.key === key)?.value;
  assert.deepEqual(
    records.map(({ severityText }, i) => [severityText, attribute(i, 'url.path')]),
    [
      ['INFO', { stringValue: '/ok' }],
      ['WARN', { stringValue: '/missing' }],
      ['ERROR', { stringValue: '/silent' }],
    ],
  );
  assert.deepEqual(attribute(0, 'http.response.status_code'), { intValue: '200' });
  assert.match(records[0]?.timeUnixNano ?? '', /^\d{19}$/);
});

test('each kind of destination gets its own form and its own credential', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  const s3 = {
    region: 'eu-west-1',
    prefix: 'logs/a',
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  for (const [kind, more, path] of [
    ['splunk', { token: 'abc' }, '/services/collector/event'],
    ['datadog', { token: 'dd-key' }, '/api/v2/logs'],
    ['s3', s3, /^\/bucket\/logs\/a\/audit\/\d{4}\/\d{2}\/\d{2}\/\d+-\d+\.ndjson$/],
  ] as const) {
    const endpoint = kind === 's3' ? `${collector.url}/bucket` : collector.url;
    const { id } = await made(owner(w), 'log_streams.create', { name: kind, kind, endpoint, ...more });
    collector.requests.length = 0;
    await ship(w, id);
    const [request] = collector.requests;
    if (typeof path === 'string') assert.equal(request?.path, path);
    else assert.match(request?.path ?? '', path);
    const { authorization = '', 'dd-api-key': key } = request?.headers ?? {};
    if (kind === 'splunk')
      assert.deepEqual([authorization, lines(request?.body ?? '').every(({ event }) => event.id)], ['Splunk abc', true]);
    if (kind === 'datadog') assert.deepEqual([key, JSON.parse(request?.body ?? '')[0].ddsource], ['dd-key', 'sallyport']);
    if (kind === 's3') {
      assert.equal(request?.method, 'PUT');
      assert.match(authorization, /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-west-1\/s3\/aws4_request/);
    }
  }
});

test('a destination that fails is tried later and later, loses nothing, and is turned off after seven days with a mail', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  const { id } = await made(owner(w), 'log_streams.create', { name: 'flaky', kind: 'https', endpoint: collector.url });
  collector.answer = { status: 503, body: 'the secret k comes back' };
  await ship(w, id);
  const failing = await stored(id);
  assert.deepEqual([failing.attempts, failing.last_error, failing.sent_count], [1, 'The destination answered with status 503.', 0n]);
  assert.deepEqual([0, 1, 5, 30].map(pauseAfter), [5_000, 10_000, 160_000, 600_000]);
  assert.equal((await made(owner(w), 'log_streams.get', { id })).state, 'failing');
  await ship(w, id, { now: later(8 * 86_400_000) });
  assert.equal((await made(owner(w), 'log_streams.get', { id })).state, 'paused');
  const [entry] = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: id, action: 'disable' } });
  assert.equal(entry?.actor_type, 'system');
  const requests = collector.requests.length;
  await ship(w, id, { now: later(8 * 86_400_000) });
  assert.equal(collector.requests.length, requests, 'one that is off is not asked');
  collector.answer = { status: 200 };
  await made(owner(w), 'log_streams.update', { id, enabled: true });
  await ship(w, id);
  assert.equal(lines(collector.requests.at(-1)?.body ?? '')[0].action, 'create', 'it goes on where it stopped');
});

test('a batch whose arrival could not be noted is sent again, and a position never goes back', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  const { id } = await made(owner(w), 'log_streams.create', { name: 'twice', kind: 'https', endpoint: collector.url });
  await Promise.all([ship(w, id), ship(w, id)]);
  const { position, sent_count } = await stored(id);
  assert.equal(sent_count, 1n, 'two workers with the same batch note it once');
  collector.meanwhile = () => db().log_streams.update({ where: { id }, data: { position: position + 1_000n } });
  await made(owner(w), 'environments.create', { name: fresh('more') });
  await ship(w, id);
  assert.equal((await stored(id)).position, position + 1_000n);
});

test('credentials go to no other host than the one they were given for, and are never shown', async () => {
  const [w, collector, thief] = [await workspace(), await startCollector(), await startCollector()];
  const input = { name: 'mine', kind: 'splunk', endpoint: collector.url, token: 'a token nobody may see' };
  const { output } = await perform(create, owner(w), input);
  assert.ok(!JSON.stringify(output).includes('nobody may see'));
  await assert.rejects(perform(update, owner(w), { id: output.id, endpoint: thief.url }), {
    type: 'mfa_required',
  });
  await perform(update, owner(w), { id: output.id, endpoint: `${collector.url}/elsewhere` });
  await perform(update, owner(w), { id: output.id, endpoint: thief.url, token: 'another' });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: output.id } });
  assert.ok(!JSON.stringify(entries.map(({ details }) => details)).includes('nobody may see'));
});

test('what a kind needs is asked for by name, what belongs to another is refused, and so are private addresses', async () => {
  const w = await workspace();
  const https = { name: 'x', kind: 'https', endpoint: 'https://logs.example.com/in' };
  for (const [raw, message] of [
    [{ kind: 'splunk' }, 'token: is required for streams of kind splunk'],
    [{ kind: 's3', region: 'eu-west-1' }, 'access_key_id: is required for streams of kind s3'],
    [{ token: 't' }, 'token: is not for streams of kind https'],
    [{ headers: { Host: 'a' } }, /^headers: must not set Host/],
    [{ headers: { 'a b': 'c' } }, /must have names of HTTP headers/],
    [{ headers: { a: 'b\r\nx: y' } }, /must be one line of text/],
    [{ endpoint: 'https://169.254.169.254/latest' }, /^endpoint: /],
    [{ endpoint: 'https://10.0.0.1/' }, /^endpoint: /],
    [{ endpoint: 'https://u:p@logs.example.com/' }, /^endpoint: /],
    [{ prefix: '../up', kind: 's3' }, /^prefix: /],
  ] as const)
    await assert.rejects(perform(create, owner(w), { ...https, ...raw }), { type: 'validation_error', message }, JSON.stringify(raw));
});

test('a test sends one record, tells how it was answered, and leaves the stream as it is', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  const { id } = await made(owner(w), 'log_streams.create', { name: 'try', kind: 'otlp', endpoint: collector.url });
  assert.deepEqual(await answerOf(), [true, 200, null]);
  collector.answer = { status: 200, body: JSON.stringify({ partialSuccess: { rejectedLogRecords: '1' } }) };
  assert.deepEqual(await answerOf(), [false, 200, 'The destination rejected some records of a batch: 1.']);
  collector.answer = { status: 401 };
  assert.deepEqual(await answerOf(), [false, 401, 'The destination answered with status 401.']);
  assert.deepEqual([(await stored(id)).sent_count, (await stored(id)).attempts], [0n, 0]);
  async function answerOf() {
    const { ok, status, error } = (await perform(sendTest, owner(w), { id })).output;
    return [ok, status, error];
  }
});

test('a workspace without the plan feature makes no streams, and one that lost it sends nothing', async () => {
  const [small, w, collector] = [await workspace({ plan: 'free' }), await workspace(), await startCollector()];
  await assert.rejects(perform(create, owner(small), { name: 'x', kind: 'https', endpoint: collector.url }), { type: 'plan_feature' });
  const { id } = await made(owner(w), 'log_streams.create', { name: newId(), kind: 'https', endpoint: collector.url });
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: 'free' } });
  await ship(w, id);
  assert.equal(collector.requests.length, 0);
});

test('the worker comes back to a stream every few seconds, and not to one that is off', async () => {
  const [w, collector] = [await workspace(), await startCollector()];
  const { id } = await made(owner(w), 'log_streams.create', { name: 'worked', kind: 'https', endpoint: collector.url });
  const now = new Date();
  const due = async () => {
    await sweepLeases(leases, { db: db(), now });
    return (await db().leases.findMany({ where: { kind: 'log_stream', resource_id: id } })).map(
      ({ next_at }) => next_at.getTime() - now.getTime(),
    );
  };
  assert.deepEqual(await due(), [5_000]);
  await made(owner(w), 'log_streams.update', { id, enabled: false });
  assert.deepEqual(await due(), []);
  await made(owner(w), 'log_streams.update', { id, enabled: true });
  assert.deepEqual(await due(), [5_000]);
});
