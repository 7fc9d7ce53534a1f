import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { handleMetadata } from '#server/oauth/metadata.ts';
import { ISSUER_PATH, workloadIssuer } from '#server/platform/workload-identity.ts';
import type { StoreHttp } from './http.ts';

// What the SDK of Azure and our client of Google say to their services, answered on loopback by the published REST references: neither has an emulator that can be had
// here. Tokens are judged by the key set that our issuer publishes, with another library than ours.

export type Asked = {
  host: string;
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
};
export type Answer = { status?: number; headers?: Record<string, string>; body?: unknown };

/** A server for every host, and the transport that sends to it what would go to them. */
export async function startCloud(answer: (asked: Asked) => Promise<Answer> | Answer) {
  const asked: string[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const url = new URL(req.url ?? '/', 'http://loopback');
    const host = String(req.headers['x-asked-host']);
    asked.push(`${req.method} ${host}${url.pathname}`);
    const one = { host, method: req.method ?? '', path: url.pathname, query: url.searchParams, headers: req.headers };
    const { status = 200, headers = {}, body = {} } = await answer({ ...one, body: Buffer.concat(chunks).toString() });
    res.writeHead(status, { 'content-type': 'application/json', 'x-ms-request-id': 'request-7', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http: StoreHttp = {
    async send({ url, method = 'GET', headers = {}, body, signal }) {
      const { hostname, pathname, search } = new URL(url);
      const found = await fetch(`${origin}${pathname}${search}`, {
        ...{ method, headers: { ...headers, 'x-asked-host': hostname } },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
        ...(signal ? { signal } : {}),
      });
      const received = Object.fromEntries(found.headers);
      return { status: found.status, headers: received, body: Buffer.from(await found.arrayBuffer()), truncated: false };
    },
    close: async () => {},
  };
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { http, asked, close };
}

const edge = { space: 'live', ip: null, request_id: crypto.randomUUID(), user_agent: null, fault: undefined } as const;
export const published = async (path: string) =>
  (await handleMetadata(new Request(`http://api.test${ISSUER_PATH}${path}`), edge)).json() as Promise<Record<string, unknown>>;

/** The claims of a token that our published keys signed for this audience, else undefined. */
export async function trusted(token: string, audience: string) {
  const keys = createLocalJWKSet((await published('/jwks.json')) as unknown as JSONWebKeySet);
  const options = { issuer: workloadIssuer(), audience, algorithms: ['RS256'], maxTokenAge: 600 };
  return jwtVerify(token, keys, options).then(
    ({ payload }) => payload,
    () => undefined,
  );
}
