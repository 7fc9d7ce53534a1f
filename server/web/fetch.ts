import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import { codingFor } from '../platform/content-coding.ts';
import type { Route } from './routes.ts';

/** Answers one request with the handlers of a route. Rejects when the handler does, or when its answer breaks off. */
export async function answerBy({ handlers, params }: Route, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const method = req.method ?? 'GET';
  const handler = handlers[method] ?? (method === 'HEAD' ? handlers.GET : undefined);
  if (handler) return send(await handler(requestOf(req, res), { params: Promise.resolve(params) }), req, res);
  res.writeHead(method === 'OPTIONS' ? 204 : 405, { allow: allowedBy(handlers).join(', ') }).end();
}

function allowedBy(handlers: Route['handlers']): string[] {
  const named = Object.keys(handlers).filter((name) => /^[A-Z]+$/.test(name));
  return [...new Set([...named, ...(named.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])].sort();
}

/** The signal aborts when the caller leaves before the answer is complete. */
function requestOf(req: IncomingMessage, res: ServerResponse): Request {
  const headers = new Headers();
  for (const [name, value = []] of Object.entries(req.headers)) for (const one of [value].flat()) headers.append(name, one);
  const left = new AbortController();
  res.once('close', () => res.writableFinished || left.abort());
  const method = req.method ?? 'GET';
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  const body = hasBody && method !== 'GET' && method !== 'HEAD' ? { body: Readable.toWeb(req) as BodyInit, duplex: 'half' as const } : {};
  return new Request(`http://${req.headers.host || 'localhost'}${req.url}`, { method, headers, signal: left.signal, ...body });
}

async function send(response: Response, req: IncomingMessage, res: ServerResponse): Promise<void> {
  res.statusCode = response.status;
  for (const [name, value] of response.headers) res.appendHeader(name, value);
  if (!response.body || req.method === 'HEAD') {
    await response.body?.cancel();
    res.end();
    return;
  }
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) res.flushHeaders();
  const reader = response.body.getReader();
  res.once('close', () => void reader.cancel().catch(() => undefined));
  const first = await reader.read();
  const coder = first.value && first.value.length >= WORTH_IT ? coderFor(response.headers, req, res) : undefined;
  if (!coder) return relay(first, reader, res);
  const chunks = Readable.from(chunksFrom(first, reader));
  await pipeline([chunks, coder, res]).catch((error: unknown) => {
    if (!res.errored && res.destroyed) return; // the caller left
    throw error;
  });
}

type Read = ReadableStreamReadResult<Uint8Array>;
type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** A pipeline of streams would cost as much again as a whole call of the API. */
async function relay(first: Read, reader: Reader, res: ServerResponse): Promise<void> {
  const closed = new Promise((resolve) => res.once('close', resolve));
  for (let read = first; !read.done && !res.destroyed; read = await reader.read())
    if (!res.write(read.value)) await Promise.race([closed, new Promise((resolve) => res.once('drain', resolve))]);
  if (!res.destroyed) res.end();
}

async function* chunksFrom(first: Read, reader: Reader): AsyncGenerator<Uint8Array> {
  for (let read = first; !read.done; read = await reader.read()) yield read.value;
}

/** Bytes below which compressing costs more than it saves. */
const WORTH_IT = 1_024;

/** What compresses this answer for the caller. A handler that compressed it, or that says `no-transform`, is left alone. Each chunk is sent at once. */
function coderFor(headers: Headers, req: IncomingMessage, res: ServerResponse): Transform | undefined {
  if (headers.has('x-sallyport-encoding') || headers.has('content-encoding')) return undefined;
  if (headers.get('cache-control')?.includes('no-transform') || !isText(headers.get('content-type') ?? '')) return undefined;
  res.appendHeader('vary', 'Accept-Encoding');
  const coding = codingFor(req.headers['accept-encoding']);
  if (coding === null) return undefined;
  res.removeHeader('content-length');
  res.setHeader('content-encoding', coding);
  if (coding === 'gzip') return createGzip({ flush: constants.Z_SYNC_FLUSH });
  return createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
}

/** An event stream is sent as it comes. */
function isText(contentType: string): boolean {
  const type = contentType.split(';', 1)[0]?.trim() ?? '';
  return (type.startsWith('text/') && type !== 'text/event-stream') || /[/+](?:json|xml|javascript)$/.test(type);
}
