import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { log } from '../log.ts';
import { meterProducer } from './producer.ts';

export type Endpoint = { readonly port: number; close(): Promise<void> };

/** What is read from the database is asked for at most so often, however many scrape. */
const REUSE_MS = 1_000;

/**
 * Serves `GET /metrics` in Prometheus' text format on a port of its own, and `/healthz`, which is answered while the event loop turns. It asks for no credential, so it must not be reachable from where callers are: no
 * public plane leads to it, and it listens on loopback unless the operator says otherwise. Rejects when the port can't be opened.
 */
export async function serveMetrics(host: string, port: number): Promise<Endpoint> {
  const exporter = new PrometheusExporter({ preventServerStart: true, metricProducers: [meterProducer()] });
  const provider = new MeterProvider({ readers: [exporter] });
  const serializer = new PrometheusSerializer('', false, undefined, true, true);
  let last: { at: number; text: Promise<string> } | undefined;
  const text = async () => {
    const { resourceMetrics, errors } = await exporter.collect({ timeoutMillis: 5_000 });
    if (errors.length > 0) log.debug({ err: errors[0], errors: errors.length }, 'some metrics could not be read');
    return serializer.serialize(resourceMetrics);
  };
  const recent = () => {
    if (last === undefined || Date.now() - last.at > REUSE_MS) last = { at: Date.now(), text: text() };
    return last.text;
  };
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000, keepAliveTimeout: 65_000 }, (req, res) =>
    answer(req, res, recent),
  );
  server.maxConnections = 64;
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => log.warn({ err: error }, 'the metrics endpoint failed'));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await provider.shutdown();
    },
  };
}

function answer(req: IncomingMessage, res: ServerResponse, read: () => Promise<string>): void {
  req.resume();
  const [path] = (req.url ?? '').split('?');
  if (path === '/healthz') return void res.writeHead(200, { 'content-type': 'text/plain', 'content-length': 3 }).end('ok\n');
  const refused = path !== '/metrics' ? 404 : req.method !== 'GET' && req.method !== 'HEAD' ? 405 : undefined;
  if (refused !== undefined)
    return void res.writeHead(refused, { 'content-length': 0, ...(refused === 405 && { allow: 'GET, HEAD' }) }).end();
  read().then(
    (body) => {
      const type = 'text/plain; version=0.0.4; charset=utf-8';
      res.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store' });
      res.end(req.method === 'HEAD' ? undefined : body);
    },
    (error: unknown) => {
      log.warn({ err: error }, 'metrics could not be read');
      res.writeHead(500, { 'content-length': 0 }).end();
    },
  );
}
