import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export type Heard = { method: string; url: string; headers: IncomingMessage['headers']; body: string; at: number };
export type Reply = (res: ServerResponse, heard: Heard) => void;

/** Answers each request with the next reply, and everything after the last one with that; notes what it heard. */
export async function startServer(...replies: readonly Reply[]): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray()).toString();
    const one = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body, at: Date.now() };
    heard.push(one);
    replies[Math.min(heard.length, replies.length) - 1]?.(res, one);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
export const refuse = (status: number, type: string, headers: Record<string, string> = {}) =>
  answer(status, { error: { type, message: `Refused: ${type}.`, request_id: 'r' } }, { 'x-request-id': 'r', ...headers });
export const done = answer(200, { data: { ok: true }, meta: { request_id: 'r' } });
/** Half of an answer, then the connection is gone. */
export const truncated: Reply = (res) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  res.write('{"data":', () => setImmediate(() => res.destroy()));
};
/** The error that something ends with; fails when it doesn't. */
export async function failureOf<E extends Error>(work: Promise<unknown>): Promise<E> {
  const [outcome] = await Promise.allSettled([work]);
  if (outcome.status === 'fulfilled') throw new Error('it succeeded');
  return outcome.reason as E;
}
