import { createParser } from 'eventsource-parser';
import { grouped } from '#server/kernel/numbers.ts';
import { UpstreamFault } from './faults.ts';
import type { HeaderList } from './response-parser.ts';
import type { EgressSettings } from './settings.ts';
import { parseTarget } from './target-url.ts';
import type { UpstreamCall } from './upstream-call.ts';
import type { UpstreamPools } from './upstream-pool.ts';

export type EventRequest = {
  /** Absolute http(s) URL; a query is allowed, credentials and fragment are not. */
  url: string;
  method: 'GET' | 'POST' | 'DELETE';
  /** Names and values in turn; Host and Accept-Encoding are added. */
  headers: HeaderList;
  body?: Buffer | undefined;
  /** Of a body that is no event stream, or of one event. */
  maxBytes: number;
  /** Keeps connections of different workspaces apart. */
  tenant: string;
  space: string;
};

export type ServerEvent = { readonly event: string; readonly data: string };

export type EventHandler = {
  onHead?(head: EventHead): void;
  /** Only of an answer with status 2xx and type `text/event-stream`. */
  onEvent(event: ServerEvent): void;
};

export type EventHead = { readonly status: number; header(name: string): string | undefined; readonly streams: boolean };

/** How it ended; `body` is '' for an event stream. */
export type EventAnswer = EventHead & { readonly body: string };

export type EventExchange = {
  /** Rejects with UpstreamFault. */
  readonly ended: Promise<EventAnswer>;
  /** Hangs up; `ended` then rejects with the fault, or `aborted` without one. */
  abort(fault?: UpstreamFault): void;
};

export type ExchangeEvents = (request: EventRequest, handler: EventHandler) => EventExchange;

/** Events of one stream altogether, in units of what one may have. */
const STREAM_FACTOR = 4;
/** Line ends without an event among them, of which each costs the parser as much as a short event. */
const MOST_LINES = 20_000;

/**
 * One call whose answer may be a stream of server-sent events: same guard as every call, no redirects, no decompression. It knows no timeout but that of
 * connecting: whoever sends it owns its time. A refused URL or address ends in UpstreamFault `upstream_not_allowed`.
 */
export function createExchangeEvents(pools: UpstreamPools, settings: EgressSettings): ExchangeEvents {
  return (request, handler) => {
    const exchange = new Exchange(request, handler);
    exchange.start(pools, settings);
    return exchange;
  };
}

class Exchange implements EventExchange {
  readonly ended: Promise<EventAnswer>;
  readonly #request: EventRequest;
  readonly #handler: EventHandler;
  readonly #resolve: (answer: EventAnswer) => void;
  readonly #reject: (fault: UpstreamFault) => void;
  #call: UpstreamCall | undefined;
  #over = false;
  #head: EventHead = { status: 0, header: () => undefined, streams: false };
  #chunks: Buffer[] = [];
  #bytes = 0;
  #feed: ((chunk: Buffer) => void) | undefined;

  constructor(request: EventRequest, handler: EventHandler) {
    this.#request = request;
    this.#handler = handler;
    const { promise, resolve, reject } = Promise.withResolvers<EventAnswer>();
    promise.catch(() => undefined); // who aborts may not wait for the end
    this.ended = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(pools: UpstreamPools, settings: EgressSettings): void {
    const { url, method, headers, body, tenant, space } = this.#request;
    const mark = url.indexOf('?');
    const parsed = parseTarget(mark === -1 ? url : url.slice(0, mark), settings);
    const query = mark === -1 ? '' : url.slice(mark);
    if (!parsed.ok || parsed.hasVariables || /[^\x21-\x7e]|#/.test(query)) {
      const why = parsed.ok ? 'is malformed' : parsed.message;
      this.#fail(new UpstreamFault('upstream_not_allowed', `The URL ${why}.`, { phase: 'connect' }));
      return;
    }
    const { scheme, host, port, authority, path } = parsed.target;
    try {
      this.#call = pools
        .get({ tenant, space, scheme, host, port })
        .send({ path: (path || '/') + query, method, headers: ['Host', authority, ...headers, 'Accept-Encoding', 'identity'], body }, this);
    } catch (error) {
      this.#fail(
        error instanceof UpstreamFault ? error : new UpstreamFault('internal_error', 'The request could not be built.', { cause: error }),
      );
    }
  }

  abort(fault = new UpstreamFault('aborted', 'The call was canceled.')): void {
    this.#fail(fault);
  }

  onHead(status: number, headers: HeaderList): void {
    const header = (name: string) => {
      const at = headers.findIndex((text, i) => i % 2 === 0 && text === name);
      return at < 0 ? undefined : headers[at + 1];
    };
    const streams = status >= 200 && status < 300 && mediaType(header('content-type')) === 'text/event-stream';
    this.#head = { status, header, streams };
    if (streams) this.#feed = this.#eventParser();
    this.#guarded(() => this.#handler.onHead?.(this.#head));
  }

  onData(lent: Buffer): void {
    if (this.#over) return;
    const { maxBytes } = this.#request;
    this.#bytes += lent.length;
    if (this.#bytes > (this.#feed ? STREAM_FACTOR * maxBytes : maxBytes)) this.#tooLarge();
    else if (this.#feed) this.#guarded(() => this.#feed?.(lent));
    else this.#chunks.push(Buffer.from(lent));
  }

  onEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#resolve({ ...this.#head, body: Buffer.concat(this.#chunks).toString('utf8') });
  }

  onFault(fault: UpstreamFault): void {
    this.#fail(fault);
  }

  #eventParser(): (chunk: Buffer) => void {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let lines = 0;
    const parser = createParser({
      maxBufferSize: this.#request.maxBytes,
      onEvent: ({ event = 'message', data }) => {
        lines = 0;
        if (!this.#over) this.#handler.onEvent({ event, data });
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#tooLarge();
      },
    });
    return (chunk) => {
      for (const byte of chunk) if (byte === LF || byte === CR) lines++;
      if (lines > MOST_LINES)
        this.#fail(
          new UpstreamFault('upstream_protocol_error', `The upstream sent more than ${grouped(MOST_LINES)} lines without an event.`),
        );
      else parser.feed(decoder.decode(chunk, { stream: true }));
    };
  }

  /** What the handler throws ends the call, not the process. */
  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(new UpstreamFault('upstream_protocol_error', 'The upstream response could not be processed.', { cause: error }));
    }
  }

  #tooLarge(): void {
    this.#fail(new UpstreamFault('upstream_response_too_large', `The response exceeds ${this.#request.maxBytes} bytes.`));
  }

  #fail(fault: UpstreamFault): void {
    if (this.#over) return;
    this.#over = true;
    this.#reject(fault);
    this.#call?.abort();
  }
}

const [LF, CR] = [10, 13];

const mediaType = (value: string | undefined): string => (value ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
