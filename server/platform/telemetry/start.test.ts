import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { freePorts } from '#scripts/ports.ts';
import { startTelemetry } from './start.ts';

// Settings are read once a process, so this file has its own: the port is taken before anything reads them.

const [metrics, ofWeb, ofWorker] = (await freePorts(3)) as [number, number, number];
const taken = createServer();
await new Promise<void>((resolve) => taken.listen(ofWeb, '127.0.0.1', resolve));
after(() => taken.close());
process.env.METRICS_PORT = String(metrics);

test('a port that is taken costs the metrics and not the service', async () => {
  const telemetry = await startTelemetry('web');
  await telemetry.close();
});

test('each role has a port of its own, on loopback alone', async () => {
  const telemetry = await startTelemetry('worker');
  const answer = await fetch(`http://127.0.0.1:${ofWorker}/metrics`);
  assert.match(await answer.text(), /^sallyport_build_info\{.*role="worker"/m);
  await telemetry.close();
  await assert.rejects(fetch(`http://127.0.0.1:${ofWorker}/metrics`));
});
