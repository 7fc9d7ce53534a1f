import type { IncomingMessage } from 'node:http';
import { freeBytes } from '#server/platform/free-bytes.ts';
import type { BodySink, BodySource } from '#server/platform/http-out/upstream-call.ts';

/** A body of the caller: whole, or its first part when it is longer than the limit, or the reason there is none. */
export type ReadBody = { state: 'whole' | 'longer'; body: Buffer } | { state: 'gone' | 'stalled' | 'crowded'; body: null };

/** The longest body that goes on unread. */
export const STREAMED_LIMIT = 100 * 1024 * 1024;
const IDLE_MS = 30_000;

/**
 * Reads up to `limit` bytes. After `longer` the request is paused behind the bytes that were read. `mayHold` is asked about all that were read so far; its no
 * ends in `crowded`. Never rejects.
 */
export function readBody(req: IncomingMessage, limit: number, mayHold: (bytes: number) => boolean, idleMs = IDLE_MS): Promise<ReadBody> {
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
      if (!mayHold(bytes)) return settle({ state: 'crowded', body: null });
      if (bytes <= limit) return;
      req.pause();
      settle({ state: 'longer', body: joined(chunks, bytes) });
    };
    const onEnd = () => settle({ state: 'whole', body: chunks.length === 1 ? (chunks[0] as Buffer) : joined(chunks, bytes) });
    const onClose = () => settle({ state: 'gone', body: null });
    const timer = setTimeout(() => settle({ state: 'stalled', body: null }), idleMs);
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('close', onClose);
    req.on('error', onClose);
  });
}

function joined(chunks: readonly Buffer[], bytes: number): Buffer {
  const whole = Buffer.concat(chunks, bytes);
  for (const chunk of chunks) freeBytes(chunk);
  return whole;
}

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}
export class BodyStalled extends Error {
  override readonly name = 'BodyStalled';
}

/** Is shown every chunk on its way; it copies what it keeps. */
export type BodyTap = { takeRequest(bytes: Buffer): void };

/** A request body on its way to an upstream, with back-pressure. `failed` is told once why it does not come; the request itself stays open. */
export class BodyRelay implements BodySource {
  bytes = 0;
  readonly #req: IncomingMessage;
  readonly #limit: number;
  readonly #failed: (reason: Error) => void;
  readonly #idleMs: number;
  readonly #tap: BodyTap | null;
  #idle: NodeJS.Timeout | undefined;
  #sink: BodySink | null = null;

  constructor(req: IncomingMessage, limit: number, failed: (reason: Error) => void, tap: BodyTap | null = null, idleMs = IDLE_MS) {
    this.#req = req;
    this.#limit = limit;
    this.#failed = failed;
    this.#idleMs = idleMs;
    this.#tap = tap;
    req.pause();
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    const req = this.#req;
    req.on('data', this.#onData);
    req.on('end', this.#onEnd);
    req.on('close', this.#onClose);
    req.on('error', this.#onClose);
    this.#awaitCaller();
    req.resume();
  }

  resume(): void {
    if (this.#sink === null) return;
    this.#awaitCaller();
    this.#req.resume();
  }

  #awaitCaller(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#fail(new BodyStalled('the caller stopped sending')), this.#idleMs);
  }

  /** Lets go of the request, paused where it is. */
  stop(): void {
    clearTimeout(this.#idle);
    if (this.#sink === null) return;
    this.#sink = null;
    const req = this.#req;
    req.off('data', this.#onData);
    req.off('end', this.#onEnd);
    req.off('close', this.#onClose);
    req.off('error', this.#onClose);
    req.on('error', () => undefined);
    req.pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytes += chunk.length;
    this.#idle?.refresh();
    if (this.#tap !== null) this.#tap.takeRequest(chunk);
    if (this.bytes > this.#limit) this.#fail(new BodyTooLarge('the body is too large'));
    else if (this.#sink?.write(chunk) === false) {
      this.#req.pause();
      clearTimeout(this.#idle); // now the upstream is slow, not the caller
    }
  };
  readonly #onEnd = (): void => {
    const sink = this.#sink;
    this.stop();
    sink?.end();
  };
  readonly #onClose = (): void => {
    if (!this.#req.complete) this.#fail(new Error('the caller went away'));
  };

  #fail(reason: Error): void {
    this.stop();
    this.#failed(reason);
  }
}
