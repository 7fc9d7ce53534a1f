import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scrape } from '#server/platform/telemetry/scrape.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { exchange } from './core/raw-client.fixture.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from './gateway.fixture.ts';

await testDatabase();

test('calls are counted by plane, status and outcome, with their time and without any name', async () => {
  const gateway = await startGateway();
  const w = await workspace();
  const upstream = await startUpstream((_, res) => setTimeout(() => res.writeHead(200, { 'content-length': 2 }).end('ok'), 40));
  await makeRoute(w, 'metered-route', upstream.url);
  const { text: key } = await w.key();
  await served(gateway, w);
  const before = await scrape();
  const secret = 'sk_live_of_the_caller';
  for (const _ of [1, 2, 3])
    assert.equal((await ask(gateway.port, w.tenant.slug, `/metered-route/x?token=${secret}`, { key })).status, 200);
  assert.equal((await ask(gateway.port, w.tenant.slug, '/no-such-route', { key })).status, 404);
  assert.equal((await ask(gateway.port, 'no-such-workspace', '/')).status, 404);
  assert.equal((await exchange(gateway.port, 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n')).status, 400);
  const after = await scrape();
  const rise = (series: string) => (after.value(series) ?? 0) - (before.value(series) ?? 0);

  assert.equal(rise('sallyport_calls_total{plane="route",status="2xx",outcome="forwarded"}'), 3);
  assert.equal(rise('sallyport_calls_total{plane="route",status="4xx",outcome="refused"}'), 1);
  assert.equal(rise('sallyport_refusals_total{reason="route_not_found"}'), 1);
  assert.equal(rise('sallyport_refusals_total{reason="tenant_not_found"}'), 1);
  assert.equal(rise('sallyport_refusals_total{reason="invalid_request"}'), 1);
  assert.equal(rise('sallyport_call_duration_seconds_count{plane="route"}'), 4);
  // The upstream took 40 ms of each: they are in the duration and not in the overhead.
  const [duration, overhead] = ['duration', 'overhead'].map((what) => rise(`sallyport_call_${what}_seconds_sum{plane="route"}`));
  assert.ok((duration ?? 0) - (overhead ?? 0) > 0.11, `${duration} s with ${overhead} s of overhead`);
  assert.equal(after.value('sallyport_snapshot_fresh'), 1);
  assert.ok((after.value('sallyport_snapshot_version') ?? 0) >= 1);
  assert.ok((after.value('sallyport_snapshot_entries{slice="workspaces"}') ?? 0) >= 1);
  for (const name of [w.tenant.slug, w.tenant.id, 'metered-route', 'no-such', secret, key, upstream.url])
    assert.ok(!after.text.includes(name), name);
});
