import { isObject, type RpcId } from '../messages.ts';
import { REFUSAL, sessionHeaders, type UpstreamSession } from './legacy.ts';
import { isRequest, MOST_ASKED, post } from './message-exchange.ts';
import { messageReader } from './message-reader.ts';
import { MOST_BYTES, type Upstream, type Wire } from './wire.ts';

/** A stream whose head takes longer isn't waited for. */
const READY_MS = 500;
const REMEMBERED_MS = 24 * 3_600_000;
const MOST_REMEMBERED = 10_000;

type Open = { uses: number; readonly ready: Promise<void>; stop(): void };

/**
 * The stream of a session on which an upstream asks what belongs to no request of ours, open while calls of the session run. Many servers ask for sampling and
 * input there and wait for the answer, which is a refusal as on every other stream.
 */
export class SessionStreams {
  readonly #open = new Map<string, Open>();
  /** Upstreams that offer none, and until when that is believed. */
  readonly #without = new Map<string, number>();

  async during<T>(wire: Wire, upstream: Upstream, session: UpstreamSession, work: () => Promise<T>): Promise<T> {
    if (session.id === null || (this.#without.get(upstream.url) ?? 0) > Date.now()) return work();
    const key = `${upstream.url}\n${session.id}`;
    const open = this.#open.get(key) ?? this.#listen(wire, upstream, session);
    this.#open.set(key, open);
    open.uses++;
    try {
      await open.ready;
      return await work();
    } finally {
      if (--open.uses === 0) {
        this.#open.delete(key);
        open.stop();
      }
    }
  }

  #listen(wire: Wire, upstream: Upstream, session: UpstreamSession): Open {
    const headers = sessionHeaders(session);
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, READY_MS);
    let asked = 0;
    const refuse = (id: RpcId) => void post(wire, upstream, headers, Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error: REFUSAL })));
    const reader = messageReader(
      (value) => {
        if (isObject(value) && typeof value.method === 'string' && isRequest(value) && ++asked <= MOST_ASKED) refuse(value.id);
      },
      () => sent.abort(),
    );
    const sent = wire(
      { url: upstream.url, method: 'GET', headers: [...headers, 'Accept', 'text/event-stream', ...upstream.headers], maxBytes: MOST_BYTES },
      {
        onHead: ({ status }) => {
          if (status === 405) this.#remember(upstream.url);
          resolve();
        },
        onEvent: ({ data }) => {
          if (data !== '') reader.push(data);
        },
      },
    );
    void sent.ended.catch(() => undefined).finally(resolve);
    void ready.then(() => clearTimeout(timer));
    return { uses: 0, ready, stop: () => sent.abort() };
  }

  #remember(url: string): void {
    if (this.#without.size >= MOST_REMEMBERED) this.#without.delete(this.#without.keys().next().value as string);
    this.#without.set(url, Date.now() + REMEMBERED_MS);
  }
}
