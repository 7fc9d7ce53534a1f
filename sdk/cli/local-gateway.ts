import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { createGateway } from '../gateway.ts';
import { CliError } from './exit.ts';

export type LocalGateway = { url: string; close: () => void };

/**
 * Forwards calls of a program on this machine to the gateway, with the credential of this terminal. The address holds 128 random bits, which only the
 * program is told: another account on this machine, or a page in a browser, can't guess it.
 */
export async function startLocalGateway(call: ReturnType<typeof createGateway>, environment: string | undefined): Promise<LocalGateway> {
  const ticket = randomBytes(16).toString('base64url');
  const server = createServer((req, res) => {
    forward(req, res).catch((error: unknown) => {
      if (res.headersSent) res.destroy();
      else if (error instanceof TypeError) refuse(res, 400, error.message);
      else
        refuse(res, 502, error instanceof CliError ? `${error.message} ${error.next_step ?? ''}`.trim() : 'The gateway can’t be reached.');
    });
  });

  async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [, given = '', route = '', rest = ''] = /^\/([^/?]*)\/([^/?]+)(.*)$/s.exec(req.url ?? '') ?? [];
    if (!same(given, ticket)) return refuse(res, 404, 'Not found.');
    if (hasPlaceholder(req))
      return refuse(
        res,
        400,
        'Placeholders of secrets are replaced in JSON and form bodies only. Let the route inject this header or query parameter.',
      );
    const chunks: Uint8Array[] = [];
    for await (const chunk of req) chunks.push(chunk as Uint8Array);
    const headers = Object.entries(req.headersDistinct).flatMap(([name, values]) =>
      DROPPED.has(name) ? [] : (values ?? []).map((value) => [name, value] as [string, string]),
    );
    const ended = new AbortController();
    res.on('close', () => ended.abort());
    const answer = await call(decodeURIComponent(route), rest, {
      method: req.method ?? 'GET',
      headers,
      ...(chunks.length > 0 ? { body: new Uint8Array(Buffer.concat(chunks)) } : {}),
      ...(environment === undefined ? {} : { environment }),
      signal: ended.signal,
    });
    for (const [name, value] of answer.headers) if (!DECODED.has(name)) res.appendHeader(name, value);
    res.writeHead(answer.status);
    if (answer.body) await pipeline(Readable.fromWeb(answer.body as never), res);
    else res.end();
  }

  await new Promise<void>((listening, failed) => server.on('error', failed).listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${ticket}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Of this connection, or another credential for the gateway than the terminal's. */
const DROPPED = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'content-length',
  'x-svc-key',
  'dpop',
  'accept-encoding',
]);
/** What no longer holds for a body that has been decoded. */
const DECODED = new Set(['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive']);

const hasPlaceholder = (req: IncomingMessage) =>
  /\{\{\s*secret/.test(req.rawHeaders.join('\n')) || /(?:\{|%7b){2}\s*secret/i.test(req.url ?? '');

function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refuse(res: ServerResponse, status: number, message: string): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { type: 'local_gateway', message } }));
}
