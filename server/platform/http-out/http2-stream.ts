import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { Readable } from 'node:stream';
import { freeBytes } from '../free-bytes.ts';
import { classifyFault, UpstreamFault } from './faults.ts';
import { http2Head } from './request-head.ts';
import type { HeaderList } from './response-parser.ts';
import type { BodySink, Carrier, UpstreamCall } from './upstream-call.ts';

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_PROTOCOL_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/** One call on a connection that carries others beside it. What goes wrong with it ends its stream alone. */
export class Http2Stream implements Carrier, BodySink {
  readonly #call: UpstreamCall;
  readonly #host: string;
  readonly #stream: ClientHttp2Stream;
  #trailers: HeaderList | undefined;
  /** Bytes that the answer announced and that have not come; 0 when it announced none. */
  #left = 0;
  /** Whether the answer's own end came (END_STREAM). */
  #ended = false;
  #error: Error | undefined;
  #over = false;

  /** Sends the request. `closed` is called once, when the stream has left the connection. @throws UpstreamFault */
  constructor(session: ClientHttp2Session, call: UpstreamCall, host: string, scheme: string, closed: () => void) {
    this.#call = call;
    this.#host = host;
    const { request } = call;
    const { body, trailers } = request;
    const whole = body === null || body === undefined || Buffer.isBuffer(body);
    const empty = whole && !body?.length;
    const stream = session.request(http2Head(request, scheme), { endStream: empty, waitForTrailers: !empty && trailers !== undefined });
    this.#stream = stream;
    call.carrier = this;
    call.carried = true;
    // node ends what is read of a stream that was reset without an error as it ends a whole one, and has no other sign of the difference than the order: the
    // end that a frame tells is pushed while the stream isn't closed yet.
    stream.push = (bytes: Buffer | null) => {
      if (bytes === null && !stream.closed) this.#ended = true;
      return Readable.prototype.push.call(stream, bytes);
    };
    stream.on('response', (_headers, flags, raw) => this.#head((raw ?? []) as unknown as HeaderList, flags));
    stream.on('trailers', (_headers, _flags, raw) => {
      this.#trailers = listOf((raw ?? []) as unknown as HeaderList);
    });
    stream.on('data', (bytes: Buffer) => {
      this.#left -= bytes.length;
      this.#guarded(() => call.handler.onData(bytes));
    });
    stream.on('end', () => this.#end());
    stream.on('error', (error) => {
      this.#error = error;
    });
    stream.on('close', () => {
      closed();
      this.#closed();
    });
    if (trailers) stream.once('wantTrailers', () => stream.sendTrailers(objectOf(trailers())));
    if (empty) return;
    if (whole) {
      call.bodySent = false;
      stream.end(body);
      return;
    }
    stream.on('drain', () => {
      if (!this.#over) body.source.resume();
    });
    body.source.start(this);
  }

  // --- the request's body ----------------------------------------------------------------------------------------------------------

  write(bytes: Buffer): boolean {
    if (this.#over || !this.#stream.writable) return true; // what comes late is dropped
    return this.#stream.write(bytes, (error) => {
      if (!error) freeBytes(bytes);
    });
  }

  end(): void {
    if (!this.#over && this.#stream.writable) this.#stream.end();
  }

  // --- the answer ------------------------------------------------------------------------------------------------------------------

  #head(raw: HeaderList, flags: number): void {
    if (this.#over) return;
    const headers = listOf(raw);
    let status = 0;
    for (let i = 0; i < raw.length; i += 2) if (raw[i] === ':status') status = Number(raw[i + 1]);
    // Nothing follows: said in the words of HTTP/1.1, which know no such flag.
    if ((flags & NGHTTP2_FLAG_END_STREAM) !== 0 && !headers.includes('content-length')) headers.push('content-length', '0');
    const at = headers.indexOf('content-length');
    const bodyless = this.#call.request.method === 'HEAD' || status === 304;
    if (at >= 0 && at % 2 === 0 && !bodyless) this.#left = Number(headers[at + 1]) || 0;
    this.#guarded(() => this.#call.handler.onHead(status, headers, ''));
  }

  #end(): void {
    if (this.#over) return;
    if (!this.#ended || this.#stream.rstCode || this.#left > 0) {
      this.#closed();
      return;
    }
    const { handler } = this.#call;
    this.#over = true;
    this.#call.carrier = null;
    this.#guarded(() => {
      if (this.#trailers) handler.onTrailers?.(this.#trailers);
      handler.onEnd();
    });
    // An upstream may answer before it has the whole body: the rest isn't sent.
    if (!this.#stream.writableEnded) this.#stream.close(NGHTTP2_CANCEL);
  }

  /** What the handler can't deal with is the end of its stream and of nothing else. */
  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#over = false;
      this.#fail(new UpstreamFault('internal_error', 'The upstream response could not be processed.', { cause: error }));
      this.#stream.close(NGHTTP2_CANCEL);
    }
  }

  // --- ends ------------------------------------------------------------------------------------------------------------------------

  abort(): void {
    this.#over = true;
    this.#call.carrier = null;
    this.#stream.close(NGHTTP2_CANCEL);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  #closed(): void {
    if (this.#over) return;
    const code = this.#stream.rstCode ?? 0;
    const cause = this.#error;
    if (code === NGHTTP2_REFUSED_STREAM)
      this.#fail(new UpstreamFault('upstream_unreachable', `The host ${this.#host} refused the request.`, { unprocessed: true, cause }));
    else if (code === NGHTTP2_PROTOCOL_ERROR)
      this.#fail(new UpstreamFault('upstream_protocol_error', `The host ${this.#host} sent a malformed HTTP response.`, { cause }));
    else this.#fail(classifyFault(cause ?? new Error('the stream was closed'), this.#host));
  }

  #fail(fault: UpstreamFault): void {
    if (this.#over) return;
    this.#over = true;
    this.#call.carrier = null;
    this.#call.handler.onFault(fault);
  }
}

/** Without pseudo-headers, and without what only a connection of HTTP/1.1 has. */
function listOf(raw: HeaderList): string[] {
  const list: string[] = [];
  for (let i = 0; i < raw.length; i += 2) if (!raw[i]?.startsWith(':')) list.push(raw[i] as string, raw[i + 1] as string);
  return list;
}

function objectOf(list: HeaderList): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < list.length; i += 2) {
    const name = (list[i] as string).toLowerCase();
    const [before, value] = [found[name], list[i + 1] as string];
    found[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return found;
}
