import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** A body of the caller: whole, or its first part when it is longer than the limit, or the reason there is none. */
export type ReadBody = { state: 'whole' | 'longer'; body: Buffer } | { state: 'gone' | 'stalled'; body: null };

const IDLE_MS = 30_000;

/** Reads up to `limit` bytes. After `longer` the request is paused behind the bytes that were read. Never rejects. */
export function readBody(req: IncomingMessage, limit: number, idleMs = IDLE_MS): Promise<ReadBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (result: ReadBody) => {
      clearTimeout(timer);
      req.off('data', onData);
      req.off('end', onEnd);
      req.off('close', onClose);
      req.off('error', onClose);
      resolve(result);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      timer.refresh();
      if (bytes <= limit) return;
      req.pause();
      settle({ state: 'longer', body: Buffer.concat(chunks, bytes) });
    };
    const onEnd = () => settle({ state: 'whole', body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes) });
    const onClose = () => settle({ state: 'gone', body: null });
    const timer = setTimeout(() => settle({ state: 'stalled', body: null }), idleMs);
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('close', onClose);
    req.on('error', onClose);
  });
}

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}
export class BodyStalled extends Error {
  override readonly name = 'BodyStalled';
}

/**
 * A request body on its way to an upstream, with back-pressure. undici destroys the stream it was given when the upstream fails; given
 * the request itself, that would take the caller's connection down before it could be answered.
 */
export class BodyRelay extends Readable {
  bytes = 0;
  readonly #req: IncomingMessage;
  readonly #limit: number;
  readonly #idle: NodeJS.Timeout;

  constructor(req: IncomingMessage, limit: number, idleMs = IDLE_MS) {
    super();
    this.#req = req;
    this.#limit = limit;
    this.#idle = setTimeout(() => this.destroy(new BodyStalled('the caller stopped sending')), idleMs);
    req.on('data', this.#onData);
    req.on('end', this.#onEnd);
    req.on('close', this.#onClose);
    req.on('error', this.#onClose);
    req.pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytes += chunk.length;
    this.#idle.refresh();
    if (this.bytes > this.#limit) this.destroy(new BodyTooLarge('the body is too large'));
    else if (!this.push(chunk)) {
      this.#req.pause();
      clearTimeout(this.#idle); // now the upstream is slow, not the caller
    }
  };
  readonly #onEnd = (): void => {
    clearTimeout(this.#idle);
    this.push(null);
  };
  readonly #onClose = (): void => {
    if (!this.#req.complete) this.destroy(new Error('the caller went away'));
  };

  override _read(): void {
    if (this.#req.complete === false) this.#idle.refresh();
    this.#req.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle);
    this.#req.off('data', this.#onData);
    this.#req.off('end', this.#onEnd);
    this.#req.off('close', this.#onClose);
    this.#req.off('error', this.#onClose);
    this.#req.on('error', () => undefined);
    this.#req.pause();
    done(error);
  }
}
