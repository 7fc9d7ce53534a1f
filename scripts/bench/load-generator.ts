// Stands in for wrk: keeps the given number of connections busy for the given time and prints what came of it.
import http from 'node:http';
import type { Load } from './load.ts';
import { percentile } from './machine.ts';

const {
  url,
  headers = {},
  method = 'GET',
  bodyBytes = 0,
  body: text,
  rotating,
  connections,
  seconds,
} = JSON.parse(process.argv[2] ?? '') as Load;
const { hostname, port, pathname, search } = new URL(url);
const body = text !== undefined ? Buffer.from(text) : bodyBytes > 0 ? Buffer.alloc(bodyBytes, 'x') : undefined;
let turn = 0;
const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
const options: http.RequestOptions = {
  hostname,
  port,
  path: pathname + search,
  method,
  agent,
  headers: { ...headers, ...(body && { 'Content-Length': body.length }) },
};
const end = performance.now() + seconds * 1000;
const taken: number[] = [];
let bad = 0;

await Promise.all(
  Array.from({ length: connections }, async () => {
    while (performance.now() < end) {
      const began = performance.now();
      if (!(await call())) bad++;
      taken.push((performance.now() - began) * 1000);
    }
  }),
);
agent.destroy();
console.log(`result ${JSON.stringify({ requests: taken.length, bad, p50_us: percentile(taken, 0.5), p99_us: percentile(taken, 0.99) })}`);

function call(): Promise<boolean> {
  return new Promise((resolve) => {
    const request = http.request(optionsNow(), (response) => {
      response.resume();
      response.on('end', () => resolve((response.statusCode ?? 500) < 300));
      response.on('error', () => resolve(false));
    });
    request.on('error', () => resolve(false));
    request.end(body);
  });
}

function optionsNow(): http.RequestOptions {
  if (!rotating) return options;
  const at = turn++ % rotating.values.length;
  const value = rotating.values[at] ?? '';
  return {
    ...options,
    path: rotating.paths?.[at] ?? options.path ?? '/',
    headers: { ...(options.headers as Record<string, string>), [rotating.name]: value },
  };
}
