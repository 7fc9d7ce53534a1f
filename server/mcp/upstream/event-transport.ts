import { isObject, type Params, type RpcId } from '../messages.ts';
import { type Initialized, initializedOf } from './legacy.ts';
import { ASKED_TOO_OFTEN, isRequest, MOST_ASKED, message, post, SHORT_TIMING, type Timing } from './message-exchange.ts';
import { messageReader } from './message-reader.ts';
import type { ClientInfo } from './modern.ts';
import { type Reply, replyOf, replyOfError, replyOfStatus, upstreamFault } from './reply.ts';
import { MOST_BYTES, type Upstream, type Wire, type WireExchange } from './wire.ts';

// HTTP with SSE of 2024-11-05: answers to what is posted come over a stream that is opened before. One stream serves one request here.

type Waiting = { id: RpcId; resolve(reply: Reply): void };

class EventStream {
  readonly #wire: Wire;
  readonly #upstream: Upstream;
  readonly #onNotification: (method: string, params: Params) => void;
  readonly #opened = Promise.withResolvers<string | Reply>();
  readonly #reader = messageReader(
    (value) => this.#onMessage(value),
    (why) => this.close(why),
  );
  #sent: WireExchange | undefined;
  #waiting: Waiting | undefined;
  #endpoint = '';
  #asked = 0;
  #ended: Reply | undefined;

  constructor(wire: Wire, upstream: Upstream, onNotification: (method: string, params: Params) => void) {
    this.#wire = wire;
    this.#upstream = upstream;
    this.#onNotification = onNotification;
  }

  /** Opens the stream and waits for the address that requests are posted to, which must be of the same origin. */
  async open(): Promise<Reply | undefined> {
    this.#sent = this.#wire(
      { url: this.#upstream.url, method: 'GET', headers: ['Accept', 'text/event-stream', ...this.#upstream.headers], maxBytes: MOST_BYTES },
      { onEvent: ({ event, data }) => this.#onEvent(event, data) },
    );
    this.#sent.ended.then(
      async ({ status, streams }) => {
        await this.#reader.done();
        this.#end(
          streams
            ? upstreamFault('upstream_invalid_response', 'The MCP server ended its stream without an answer.', status)
            : replyOfStatus(status),
        );
      },
      async (error: unknown) => {
        await this.#reader.done();
        this.#end(replyOfError(error));
      },
    );
    const timer = setTimeout(
      () => this.close(upstreamFault('upstream_timeout', 'The MCP server did not answer in time.')),
      SHORT_TIMING.answerMs,
    );
    const opened = await this.#opened.promise;
    clearTimeout(timer);
    if (typeof opened !== 'string') return opened;
    this.#endpoint = opened;
    return undefined;
  }

  request(id: RpcId, method: string, params: Params): Promise<Reply> {
    if (this.#ended) return Promise.resolve(this.#ended);
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#waiting = { id, resolve };
    void this.#post(message(method, params, id)).then((status) => {
      if (status === 0 || status >= 300) resolve(status === 0 ? replyOfError(undefined) : replyOfStatus(status));
    });
    return promise;
  }

  notify(method: string, params: Params): Promise<number> {
    return this.#post(message(method, params));
  }

  close(reply: Reply = { kind: 'canceled' }): void {
    this.#end(reply);
    this.#sent?.abort();
  }

  #post(body: Buffer): Promise<number> {
    return post(this.#wire, { ...this.#upstream, url: this.#endpoint }, [], body);
  }

  #onEvent(event: string, data: string): void {
    if (event === 'endpoint') {
      const url = URL.parse(data.trim(), this.#upstream.url);
      if (url && url.origin === new URL(this.#upstream.url).origin) this.#opened.resolve(url.href);
      else this.close(upstreamFault('upstream_invalid_response', 'The MCP server named an address of another origin.'));
      return;
    }
    if (event === 'message') this.#reader.push(data);
  }

  #onMessage(value: unknown): void {
    if (!isObject(value)) return;
    const { id, method } = value;
    if (typeof method === 'string') {
      if (isRequest(value)) {
        if (this.#ended) return;
        if (++this.#asked > MOST_ASKED) {
          this.close(ASKED_TOO_OFTEN);
          return;
        }
        void this.#post(
          Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'This client accepts no requests.' } })),
        );
      } else this.#onNotification(method, isObject(value.params) ? value.params : {});
    } else if (this.#waiting !== undefined && id === this.#waiting.id)
      this.#waiting.resolve(replyOf(value, 200) ?? upstreamFault('upstream_invalid_response', 'The MCP server sent an invalid answer.'));
  }

  #end(reply: Reply): void {
    this.#ended ??= reply;
    this.#opened.resolve(reply);
    this.#waiting?.resolve(reply);
  }
}

export type EventCall = { readonly id: RpcId; readonly method: string; readonly params: Params; readonly client: ClientInfo };
export type EventCalled = { readonly reply: Reply; readonly initialized: Initialized | null };

/** Opens a stream, shakes hands, makes one request and closes the stream. Never rejects. */
export async function eventCall(
  wire: Wire,
  upstream: Upstream,
  { id, method, params, client }: EventCall,
  onNotification: (method: string, params: Params) => void,
  { answerMs, mostMs }: Timing,
  signal?: AbortSignal,
): Promise<EventCalled> {
  const began = performance.now();
  const expire = () => stream.close(upstreamFault('upstream_timeout', 'The MCP server did not answer in time.'));
  let timer = setTimeout(expire, answerMs);
  const stream = new EventStream(wire, upstream, (name, given) => {
    if (name === 'notifications/progress') {
      clearTimeout(timer);
      timer = setTimeout(expire, Math.max(0, Math.min(answerMs, mostMs - (performance.now() - began))));
    }
    onNotification(name, given);
  });
  const giveUp = () => {
    void stream.notify('notifications/cancelled', { requestId: id, reason: 'The caller gave up.' });
    stream.close();
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const closed = await stream.open();
    if (closed) return { reply: closed, initialized: null };
    const hello = await stream.request(`${id}-i`, 'initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: client });
    if (hello.kind !== 'result') return { reply: hello, initialized: null };
    const initialized = initializedOf(hello.result, null);
    if ('kind' in initialized) return { reply: initialized, initialized: null };
    await stream.notify('notifications/initialized', {});
    return { reply: method === 'initialize' ? hello : await stream.request(id, method, params), initialized };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
    stream.close();
  }
}
