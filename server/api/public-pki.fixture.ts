import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after } from 'node:test';
import type { Edge } from './edge.ts';
import { handlePublicCertificates, isPublicPki } from './public-certificates.ts';
import { handlePublicOcsp, isPublicOcsp } from './public-ocsp.ts';

/** What the gateway would say of a call to a public address. */
export const publicEdge = (ip: string | null = '192.0.2.1'): Edge => ({
  space: 'live',
  ip,
  request_id: crypto.randomUUID(),
  user_agent: null,
});

/** The handler that has this address. */
export function askPublic(url: string, init: RequestInit = {}, edge = publicEdge()): Promise<Response> {
  const { pathname } = new URL(url);
  const handler = isPublicOcsp(pathname) ? handlePublicOcsp : isPublicPki(pathname) ? handlePublicCertificates : undefined;
  return handler?.(new Request(url, init), edge) ?? Promise.resolve(new Response(null, { status: 404 }));
}

/** The public addresses of certificate authorities on a real port, for programs of other authors. It ends after the tests. */
export async function servePublic(): Promise<string> {
  const server = http.createServer((req, res) => {
    const body = req.method === 'POST' ? { body: Readable.toWeb(req) as ReadableStream, duplex: 'half' } : {};
    askPublic(`http://localhost${req.url}`, { method: req.method ?? 'GET', ...body } as RequestInit)
      .then(async (answer) => {
        res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
      })
      .catch(() => res.writeHead(500).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
