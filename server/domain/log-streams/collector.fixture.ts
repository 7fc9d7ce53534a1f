import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Collector = {
  url: string;
  requests: { method: string; path: string; headers: IncomingHttpHeaders; body: string }[];
  /** What it answers next; 200 and an empty object by default. */
  answer: { status: number; body?: string };
  /** Before it answers. */
  meanwhile: () => Promise<unknown>;
};

/** A destination on loopback that keeps what it is sent. It ends with the process. */
export async function startCollector(): Promise<Collector> {
  const collector: Collector = { url: '', requests: [], answer: { status: 200 }, meanwhile: async () => {} };
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      collector.requests.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers, body });
      await collector.meanwhile();
      res.statusCode = collector.answer.status;
      res.end(collector.answer.body ?? '{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return collector;
}
