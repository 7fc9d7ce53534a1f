import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { startTelemetry } from './start.ts';

// Settings are read once a process, so this file has its own: the port is taken before anything reads them.

const taken = createServer();
await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
after(() => taken.close());
const { port } = taken.address() as AddressInfo;
process.env.METRICS_PORT = String(port - 1);

test('a port that is taken costs the metrics and not the service', async () => {
  const telemetry = await startTelemetry('web'); // one above METRICS_PORT
  await telemetry.close();
});

test('each role has a port of its own, on loopback alone', async () => {
  const telemetry = await startTelemetry('worker');
  const answer = await fetch(`http://127.0.0.1:${port + 1}/metrics`);
  assert.match(await answer.text(), /^sallyport_build_info\{.*role="worker"/m);
  await telemetry.close();
  await assert.rejects(fetch(`http://127.0.0.1:${port + 1}/metrics`));
});
