import { lowerName } from '../header-name.ts';

/** Names and values in turn, in the order they came; names in lower case. `spelled`: the name of each field as it came (`spelledAs`). */
export type HeaderList = readonly string[] & { readonly spelled?: readonly string[] | undefined };

export type ResponseEvents = {
  onHead(status: number, headers: HeaderList, reason: string): void;
  /** The bytes are lent: they are overwritten when the call returns. */
  onData(bytes: Buffer): void;
};

/** What came is not HTTP/1.1, or is framed so that two readers could understand it differently. */
export class MalformedResponse extends Error {
  override readonly name = 'MalformedResponse';
}

const MAX_HEAD_BYTES = 64 * 1024;
const MAX_LINE = 4 * 1024;
const START = 'HTTP/1.';
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LENGTH = /^\d{1,15}$/;
const CHUNK_SIZE = /^([0-9a-f]{1,13})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n$/i;

type State = 'head' | 'length' | 'chunk size' | 'chunk' | 'chunk end' | 'trailers' | 'until close' | 'done';

/**
 * One response after another from one connection (RFC 9112 §4 to §7), as strict as its grammar: no bare line ends, no folded lines, no
 * second length. Informational answers are swallowed (RFC 9110 §15.2), trailers dropped. After `stop` it tells nothing more.
 */
export class ResponseParser {
  readonly #events: ResponseEvents;
  #state: State = 'done';
  #method = '';
  #upgrade = false;
  /** Of a head whose end has not come. */
  #held: Buffer | undefined;
  #headBytes = 0;
  #line = '';
  #left = 0;
  /** Whether the connection may carry another request after this answer. */
  keepAlive = false;
  /** Milliseconds the upstream says it keeps an idle connection; Infinity when it does not say. */
  idleMs = Number.POSITIVE_INFINITY;
  /** Whether anything of the current answer came. */
  started = false;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  begin(method: string, upgrade: boolean): void {
    this.#state = 'head';
    this.#method = method;
    this.#upgrade = upgrade;
    this.#held = undefined;
    this.#headBytes = 0;
    this.started = false;
  }

  stop(): void {
    this.#state = 'done';
    this.keepAlive = false;
  }

  /** Takes bytes up to the end of the answer and says how many. Throws MalformedResponse. */
  push(bytes: Buffer): number {
    this.started = true;
    let at = 0;
    // A head without a body and the end of a chunk are steps that need no further byte.
    while (this.#state !== 'done' && at < bytes.length) at = this.#step(bytes, at);
    return at;
  }

  /** The connection was closed by the upstream. True when that is where the answer ends. */
  close(): boolean {
    if (this.#state !== 'until close') return false;
    this.#state = 'done';
    return true;
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#head(bytes, at);
      case 'length':
      case 'chunk':
        return this.#body(bytes, at);
      case 'until close':
        this.#events.onData(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      default:
        return this.#framing(bytes, at);
    }
  }

  #body(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    const whole = this.#left === 0;
    const after = this.#state === 'length' ? 'done' : 'chunk end';
    this.#events.onData(bytes.subarray(at, end));
    if (whole && this.#state !== 'done') this.#state = after;
    return end;
  }

  /** Lines between chunks and after the last. */
  #framing(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(10, at);
    const end = newline < 0 ? bytes.length : newline + 1;
    this.#line += bytes.toString('latin1', at, end);
    if (this.#line.length > MAX_LINE) throw new MalformedResponse('a line between chunks is too long');
    if (newline < 0) return end;
    const line = this.#line;
    this.#line = '';
    if (this.#state === 'chunk size') this.#chunkSize(line);
    else if (this.#state === 'chunk end') {
      if (line !== '\r\n') throw new MalformedResponse('a chunk is longer than its declared size');
      this.#state = 'chunk size';
    } else this.#trailer(line);
    return end;
  }

  #chunkSize(line: string): void {
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new MalformedResponse('a chunk has no size');
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailers' : 'chunk';
  }

  #trailer(line: string): void {
    this.#headBytes += line.length;
    if (!line.endsWith('\r\n') || this.#headBytes > MAX_HEAD_BYTES) throw new MalformedResponse('the trailers are malformed');
    if (line === '\r\n') this.#state = 'done';
  }

  #head(bytes: Buffer, at: number): number {
    const held = this.#held?.length ?? 0;
    const block = this.#held === undefined ? bytes : Buffer.concat([this.#held, at === 0 ? bytes : bytes.subarray(at)]);
    const from = this.#held === undefined ? at : 0;
    const end = block.indexOf('\r\n\r\n', Math.max(from, held - 3), 'latin1');
    if (this.#headBytes + (end < 0 ? block.length : end) - from > MAX_HEAD_BYTES) throw new MalformedResponse('the head is too large');
    if (end < 0) {
      const start = block.toString('latin1', from, Math.min(from + START.length, block.length));
      if (!START.startsWith(start)) throw new MalformedResponse('the response is not HTTP/1');
      // Its sender thinks it whole: waiting for more would only end with the call's time.
      if (block.indexOf('\n\n', Math.max(from, held - 1), 'latin1') >= 0) throw new MalformedResponse('the head uses bare line feeds');
      this.#held = Buffer.from(block.subarray(from));
      return bytes.length;
    }
    this.#held = undefined;
    this.#headBytes += end + 4 - from;
    this.#readHead(block.toString('latin1', from, end));
    // Where the head ends in `bytes`: what was held came before them.
    return held === 0 ? end + 4 : at + end + 4 - held;
  }

  #readHead(text: string): void {
    const first = text.indexOf('\r\n');
    const line = STATUS_LINE.exec(first < 0 ? text : text.slice(0, first));
    if (!line) throw new MalformedResponse('the status line is malformed');
    const status = Number(line[2]);
    const headers: string[] & { spelled?: readonly string[] } = [];
    const spelled: string[] = [];
    headers.spelled = spelled;
    let connection = '';
    let length: string | undefined;
    let coding: string | undefined;
    let keepAliveHint = '';
    for (let from = first < 0 ? text.length : first + 2; from < text.length; ) {
      let end = text.indexOf('\r\n', from);
      if (end < 0) end = text.length;
      const colon = text.indexOf(':', from);
      if (colon < 0 || colon > end) throw new MalformedResponse('a header has no colon');
      const written = text.slice(from, colon);
      const name = lowerName(written);
      const value = trimmed(text, colon + 1, end);
      if (name === '' || !VALUE.test(value)) throw new MalformedResponse('a header contains invalid characters');
      headers.push(name, value);
      spelled.push(written);
      if (name === 'connection') connection = connection === '' ? value : `${connection},${value}`;
      else if (name === 'keep-alive') keepAliveHint = value;
      else if (name === 'content-length') {
        if (length !== undefined || !LENGTH.test(value)) throw new MalformedResponse('Content-Length is not a single number');
        length = value;
      } else if (name === 'transfer-encoding') {
        if (coding !== undefined) throw new MalformedResponse('there are two Transfer-Encoding headers');
        coding = value.toLowerCase();
      }
      from = end + 2;
    }
    if (status < 200 && status !== 101) return; // the next head is awaited
    this.#frame(status, line[1] === '0', connection, length, coding);
    this.idleMs = idleHint(keepAliveHint);
    this.#events.onHead(status, headers, line[3] ?? '');
  }

  /** How long the body is (RFC 9112 §6.3). Throws when it could be read in two ways, or by a coding nobody asked for. */
  #frame(status: number, old: boolean, connection: string, length: string | undefined, coding: string | undefined): void {
    if (coding !== undefined && (coding !== 'chunked' || old || length !== undefined))
      throw new MalformedResponse('Transfer-Encoding is not chunked alone');
    this.keepAlive = !old && !(connection !== '' && /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(connection));
    if (status === 101) {
      if (!this.#upgrade) throw new MalformedResponse('the upstream switched protocols without being asked');
      this.keepAlive = false;
      this.#state = 'done';
    } else if (this.#method === 'HEAD' || status === 204 || status === 304) {
      // Some send a body all the same, often a moment later: it would be read as the answer to the next request (RFC 9112 §11.2).
      if (this.#method === 'HEAD' || coding !== undefined || (status === 204 && Number(length ?? 0) > 0)) this.keepAlive = false;
      this.#state = 'done';
    } else if (coding !== undefined) {
      this.#headBytes = 0;
      this.#line = '';
      this.#state = 'chunk size';
    } else if (length !== undefined) {
      this.#left = Number(length);
      this.#state = this.#left === 0 ? 'done' : 'length';
    } else {
      this.keepAlive = false;
      this.#state = 'until close';
    }
  }
}

/** Without optional white space (RFC 9110 §5.6.3), which is less than what String.trim takes away. */
function trimmed(text: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;

function idleHint(keepAlive: string): number {
  const seconds = /(?:^|[,;\s])timeout\s*=\s*(\d{1,6})/i.exec(keepAlive)?.[1];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000;
}
