import type { IncomingMessage } from 'node:http';
import { freeBytes } from '#server/platform/free-bytes.ts';
import type { BodySink, BodySource } from '#server/platform/http-out/upstream-call.ts';
import type { LineEdit } from './answer-edit.ts';
import { BodyBroken, bodyFault } from './broken-body.ts';
import { LineStage } from './line-stage.ts';
import { type Refused, refused } from './refusal.ts';

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
  if (bodyFault(req) !== undefined) return Promise.resolve({ state: 'gone', body: null });
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
  /** In bytes. */
  readonly limit: number;
  constructor(limit: number) {
    super('the body is too large');
    this.limit = limit;
  }
}
export class BodyStalled extends Error {
  override readonly name = 'BodyStalled';
}

/** A body of pieces that are in memory; it is sent once. */
export class PiecesSource implements BodySource {
  readonly #pieces: readonly Buffer[];
  #sink: BodySink | undefined;
  #next = 0;

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    this.resume();
  }

  resume(): void {
    while (this.#next < this.#pieces.length) if (this.#sink?.write(this.#pieces[this.#next++] as Buffer) === false) return;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end();
  }
}

/** Is shown every chunk on its way; it copies what it keeps. */
export type BodyTap = { takeRequest(bytes: Buffer): void };

/** The plane has ended the body, and says why. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly refusal: Refused;
  constructor(refusal: Refused) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** What changes a body while it is relayed, and may keep what of it may be shown. */
export type RelayEdit = { edit: LineEdit; mayHold(bytes: number): boolean; tap: BodyTap | null };

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
    if (bodyFault(req) !== undefined) process.nextTick(this.#onClose, new BodyBroken('the body was broken before it was read'));
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
    if (this.bytes > this.#limit) this.#fail(new BodyTooLarge(this.#limit));
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
  readonly #onClose = (error?: Error): void => {
    if (!this.#req.complete && this.#sink !== null) this.#fail(error instanceof BodyBroken ? error : new Error('the caller went away'));
  };

  #fail(reason: Error): void {
    this.stop();
    this.#failed(reason);
  }
}

/** The same for a body whose lines are changed on their way. */
export class LineRelay implements BodySource {
  readonly #relay: BodyRelay;
  readonly #lines: RelayEdit;
  readonly #failed: (reason: Error) => void;
  #stage: LineStage | undefined;

  constructor(req: IncomingMessage, limit: number, failed: (reason: Error) => void, lines: RelayEdit) {
    this.#relay = new BodyRelay(req, limit, failed);
    this.#lines = lines;
    this.#failed = failed;
  }

  start(sink: BodySink): void {
    const { edit, mayHold, tap } = this.#lines;
    const stage = new LineStage(edit, {
      write: (pieces, shown) => {
        for (const bytes of shown ?? []) tap?.takeRequest(bytes);
        return pieces.map((bytes) => sink.write(bytes)).every(Boolean);
      },
      end: () => sink.end(),
      fail: (refusal) => {
        this.stop();
        this.#failed(new BodyRefused(refusal));
      },
      resume: () => this.#relay.resume(),
      mayHold,
      tooLong: () => refused('payload_too_large', 'A line of the request body must not exceed 1 MiB on this route.'),
    });
    this.#stage = stage;
    this.#relay.start({ write: (bytes) => stage.push(bytes), end: () => stage.end() });
  }

  resume(): void {
    this.#stage?.drained();
  }

  stop(): void {
    this.#stage?.stop();
    this.#relay.stop();
  }
}
