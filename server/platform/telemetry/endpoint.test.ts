import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Endpoint, serveMetrics } from './endpoint.ts';
import { counter, histogram, observe, tally } from './meters.ts';
import { measureProcess } from './process-meters.ts';
import { scrape } from './scrape.fixture.ts';

const open: Endpoint[] = [];
after(async () => {
  for (const endpoint of open) await endpoint.close();
});

async function serve(): Promise<string> {
  const endpoint = await serveMetrics('127.0.0.1', 0);
  open.push(endpoint);
  return `http://127.0.0.1:${endpoint.port}`;
}

test('counters, tallies and histograms are written as Prometheus reads them', async () => {
  const doors = counter({ name: 'test_doors', help: 'Doors' }, { side: ['left', 'right'] });
  doors.cells[doors.index('right')] = 3;
  tally({ name: 'test_reasons', help: 'Reasons' }, 'reason', 'kind').add(['a "quoted" one', 'x'], 2);
  const waits = histogram({ name: 'test_waits_seconds', help: 'Waits', unit: 's' }, [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) waits.observe(value);
  const { text, value } = await scrape();
  assert.equal(value('test_doors_total{side="left"}'), 0);
  assert.equal(value('test_doors_total{side="right"}'), 3);
  assert.equal(value('test_reasons_total{reason="a \\"quoted\\" one",kind="x"}'), 2);
  assert.deepEqual(
    ['0.1', '1', '+Inf'].map((le) => value(`test_waits_seconds_bucket{le="${le}"}`)),
    [2, 3, 4],
  );
  assert.equal(value('test_waits_seconds_count'), 4);
  assert.ok(Math.abs((value('test_waits_seconds_sum') ?? 0) - 7.65) < 1e-9);
  assert.match(text, /^# TYPE test_waits_seconds histogram$/m);
});

test('two copies of a declaration count together', () => {
  assert.equal(counter({ name: 'test_copies', help: '' }), counter({ name: 'test_copies', help: '' }));
});

test('a tally keeps a bounded number of values and counts the rest as other', async () => {
  const many = tally({ name: 'test_many', help: 'Many' }, 'value');
  for (let i = 0; i < 300; i++) many.add(`v${i}`);
  const { text, value } = await scrape();
  assert.equal(text.match(/^test_many_total\{/gm)?.length, 201);
  assert.equal(value('test_many_total{value="other"}'), 100);
});

test('a metric that cannot be read leaves the others readable', async () => {
  const forget = observe('gauge', { name: 'test_broken', help: 'Broken' }, () => Promise.reject(new Error('the database is away')));
  const { text } = await scrape();
  forget();
  assert.doesNotMatch(text, /^test_broken/m);
  assert.match(text, /^test_copies_total/m);
});

test('only GET /metrics and the health check are answered', async () => {
  const base = await serve();
  const statuses = await Promise.all(
    [
      ['GET', '/'],
      ['GET', '/metrics/x'],
      ['GET', '/healthz'],
      ['POST', '/metrics'],
      ['GET', '/metrics'],
    ].map(async ([method, path]) => (await fetch(`${base}${path}`, { method: method as string })).status),
  );
  assert.deepEqual(statuses, [404, 404, 200, 405, 200]);
  const { headers } = await fetch(`${base}/metrics`);
  assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
});

test('the process tells its memory, processor time, event loop and release', async () => {
  const end = measureProcess('worker');
  const { text, value } = await scrape();
  end();
  assert.ok((value('sallyport_process_memory_bytes{kind="rss"}') ?? 0) > 1e7);
  assert.ok((value('sallyport_process_cpu_seconds_total{mode="user"}') ?? 0) > 0);
  assert.match(text, /^sallyport_build_info\{version="[\w.-]+",role="worker",node="v\d+\.[\d.]+"\} 1$/m);
  assert.match(text, /^sallyport_event_loop_lag_seconds_bucket/m);
  assert.doesNotMatch((await scrape()).text, /sallyport_process_memory_bytes/);
});
