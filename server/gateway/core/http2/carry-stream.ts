import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { uuidV7 } from '#server/crypto/random.ts';
import { bareRefusal } from '../bare-refusal.ts';
import { isGrpc } from '../grpc/media-type.ts';
import { ALL_METHODS } from '../methods.ts';
import { StreamSocket } from './stream-socket.ts';
import { http1Head, http2Head } from './translate.ts';

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants;

/** Larger than any head that the gateway writes: an upstream's may have 64 KiB. */
const ANSWER_HEAD = 256 * 1024;
/** First byte of a request to its last (interface rule 12 §17), but for calls that last as long as both sides talk. */
const BODY_MS = 300_000;
/** How long an answer that is on its way may wait for the caller to take some of it. */
const STALLED_MS = 30_000;

/** What the `stream` event told, and the trailers of `trailersOf`. */
export type Arrived = { raw: readonly string[]; flags: number; trailers: readonly string[]; peer: string };

/** The list that the trailers of the request are put into when they come, which may be before the request is carried. */
export function trailersOf(stream: ServerHttp2Stream): string[] {
  const trailers: string[] = [];
  stream.on('trailers', (_: unknown, __: unknown, raw: readonly string[] = []) => trailers.push(...raw));
  return trailers;
}

/**
 * One request of HTTP/2 as a request of HTTP/1.1, over a connection that no network carries, so that the code that serves every other call parses, judges,
 * limits, answers and logs it. `accept` is given the server's end.
 */
export function carryStream(
  stream: ServerHttp2Stream,
  { raw, flags, trailers, peer }: Arrived,
  accept: (socket: StreamSocket) => void,
): void {
  const ends = (flags & NGHTTP2_FLAG_END_STREAM) !== 0;
  const { method, path, headers } = http1Head(raw, ends);
  if (method === 'CONNECT') {
    refuse(stream, 405, 'method_not_allowed', 'CONNECT is not supported.', '');
    return;
  }
  const [ours, theirs] = StreamSocket.pair(peer);
  let asked: ClientRequest;
  try {
    const options = { createConnection: () => ours as never, method, path, headers, setHost: false, maxHeaderSize: ANSWER_HEAD };
    asked = request(options);
  } catch {
    refuse(stream, 400, 'invalid_request', 'The request is not valid HTTP/2.', path);
    return;
  }
  accept(theirs);
  sendBody(stream, asked, trailers, ends || isGrpc(fieldIn(headers, 'content-type')));
  takeAnswer(stream, asked);
  stream.once('close', () => asked.destroy());
}

function fieldIn(headers: readonly string[], name: string): string {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1] as string;
  return '';
}

function sendBody(stream: ServerHttp2Stream, asked: ClientRequest, trailers: readonly string[], unbounded: boolean): void {
  const late = unbounded ? undefined : setTimeout(() => stream.close(NGHTTP2_CANCEL), BODY_MS);
  stream.once('close', () => clearTimeout(late));
  stream.on('data', (bytes: Buffer) => {
    if (!asked.destroyed && !asked.write(bytes)) stream.pause();
  });
  asked.on('drain', () => stream.resume());
  stream.on('end', () => {
    clearTimeout(late);
    // node ends a body that was reset as it ends a whole one: what is left then must not look complete to who serves it.
    if (stream.closed || stream.aborted || stream.destroyed) {
      asked.destroy();
      return;
    }
    if (trailers.length > 0) asked.addTrailers(pairsOf(trailers) as never);
    asked.end();
  });
  asked.flushHeaders();
}

function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) if (!raw[i]?.startsWith(':')) pairs.push([raw[i] as string, raw[i + 1] as string]);
  return pairs;
}

function takeAnswer(stream: ServerHttp2Stream, asked: ClientRequest): void {
  let answered = false;
  asked.on('continue', () => stream.additionalHeaders({ ':status': 100 }));
  asked.on('error', () => {
    // After the whole answer it is only the rest of the request that nobody reads.
    if (!answered) stream.close(NGHTTP2_INTERNAL_ERROR);
  });
  asked.on('response', (answer) => {
    if (stream.closed || stream.destroyed) {
      asked.destroy();
      return;
    }
    const head = http2Head(answer.statusCode ?? 500, answer.rawHeaders);
    const bodyless = head.bodyless || asked.method === 'HEAD';
    try {
      stream.respond(head.headers, { endStream: bodyless, waitForTrailers: !bodyless });
    } catch {
      stream.close(NGHTTP2_INTERNAL_ERROR);
      return;
    }
    // Without it `close` would end a body that broke off as if it were whole.
    stream.once('wantTrailers', () => {
      if (answered) stream.sendTrailers(trailersIn(answer));
    });
    answer.on('data', (bytes: Buffer) => {
      if (stream.writable && !stream.write(bytes)) answer.pause();
    });
    stream.on('drain', () => answer.resume());
    // The caller must see that the body isn't whole.
    answer.on('error', () => stream.close(NGHTTP2_INTERNAL_ERROR));
    answer.on('end', () => {
      answered = true;
      finish(stream, bodyless);
    });
  });
}

function trailersIn({ rawTrailers }: IncomingMessage): Record<string, string | string[]> {
  const trailers: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairsOf(rawTrailers)) {
    const key = name.toLowerCase();
    const before = trailers[key];
    trailers[key] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return trailers;
}

/** Ends the answer; what is left of the request isn't wanted any more (RFC 9113 §8.1). */
function finish(stream: ServerHttp2Stream, bodyless: boolean): void {
  // A window that stays closed would keep the stream, and its place, for ever.
  stream.setTimeout(STALLED_MS, () => stream.close(NGHTTP2_CANCEL));
  const over = () => {
    if (!stream.readableEnded && !stream.closed) stream.close(NGHTTP2_NO_ERROR);
  };
  if (bodyless) over();
  else stream.end(over);
}

function refuse(stream: ServerHttp2Stream, status: number, type: string, message: string, target: string): void {
  const { text, headers } = bareRefusal(type, message, uuidV7(), target);
  stream.respond({ ':status': status, ...headers, ...(status === 405 && { allow: ALL_METHODS }) });
  stream.end(text);
  finish(stream, true);
}
