import { type IncomingMessage, ServerResponse } from 'node:http';

/** node's own step from `writeHead` to the bytes of the head. */
const { _storeHeader: storeHeader } = ServerResponse.prototype as unknown as {
  _storeHeader(this: ServerResponse, statusLine: string, headers: unknown): void;
};

/** A head in two parts: whole header lines that need no validation, each with its line end, and alternating names and values that `writeHead` acts on. */
export type ResponseHead = { lines: string; fields: string[] };

/** Why the end of an answer waits: `log`, until its call can't get lost any more; `spend`, until what it reserved is free for the caller's next call. */
export type Hold = 'log' | 'spend';

/**
 * A response whose head may begin with lines that were judged before. `writeHead` judges names and values of all fields it is given, one by one, which
 * for the twenty of a proxied answer costs more than the rest of it; an upstream's were judged when they were read, and ours are our own words.
 */
export class GatewayResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  #lines = '';
  readonly #holds = new Set<Hold>();
  #held = false;
  #chunk: unknown;
  #encoding: unknown;
  #callback: unknown;
  /** Named in the head unless its fields name another: the version of an answer to a path under /v1. */
  serviceVersion: string | null = null;

  /** As `writeHead`. None of the lines is Connection, Content-Length, Date, Expect, Keep-Alive, Trailer or Transfer-Encoding: those are fields. */
  begin(status: number, reason: string | undefined, { lines, fields }: ResponseHead): this {
    this.#lines = lines;
    return reason === undefined ? this.writeHead(status, fields) : this.writeHead(status, reason, fields);
  }

  /** From now on `end` is kept back until `letEnd` for each reason: until then the caller isn't told that its answer is whole. */
  holdEnd(reason: Hold): void {
    this.#holds.add(reason);
  }

  /** Ends the response as it was asked to, or lets it end when it is, unless another reason holds it. */
  letEnd(reason: Hold): void {
    this.#holds.delete(reason);
    if (!this.#held || this.#holds.size > 0) return;
    this.#held = false;
    const [chunk, encoding, callback] = [this.#chunk, this.#encoding, this.#callback];
    this.#chunk = this.#callback = undefined;
    // Nobody is there any more.
    if (!this.destroyed) this.#end(chunk, encoding, callback);
  }

  /** Whether `end` was called, and waits. */
  get isHeld(): boolean {
    return this.#held;
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (this.#holds.size === 0) return this.#end(chunk, encoding, callback);
    if (this.#held) return this;
    this.#held = true;
    this.#chunk = chunk;
    this.#encoding = encoding;
    this.#callback = callback;
    return this;
  }

  /** node would write the last chunk, which ends the message, before those that are corked. */
  #end(chunk: unknown, encoding: unknown, callback: unknown): this {
    if (this.writableCorked > 0) {
      this.socket?.cork(); // until its end is written too
      while (this.writableCorked > 0) this.uncork();
    }
    return super.end(chunk as never, encoding as never, callback as never);
  }

  /** Called by `writeHead`. */
  protected _storeHeader(statusLine: string, headers: unknown): void {
    const version = this.serviceVersion === null || namesVersion(headers) ? '' : `Service-Version: ${this.serviceVersion}\r\n`;
    storeHeader.call(this, statusLine + this.#lines + version, headers);
  }
}

/** Whether a list of fields, or an object of them, has a version: the web process answers under one that it knows by itself. */
function namesVersion(headers: unknown): boolean {
  const names: unknown[] = Array.isArray(headers) ? headers.filter((_, i) => i % 2 === 0) : Object.keys(headers ?? {});
  return names.some((name) => String(name).toLowerCase() === 'service-version');
}
