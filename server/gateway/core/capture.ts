import type { ResponseHead } from './gateway-response.ts';
import type { Quota } from './quota.ts';

/** Which calls keep their payloads: `log_payloads` of their environment, or the workspace's default. */
export type CaptureMode = 'all' | 'errors';

/** So much of a body is taken, a little more than is kept of it: what has to be masked is then never cut in the middle. */
export const BODY_TAKEN = 36 * 1024;

/** The beginning of a body that passes by. */
class Taken {
  chunks: Buffer[] = [];
  /** Of the whole body. */
  bytes = 0;
  held = 0;
}

/**
 * What a call keeps of its payloads while it is under way (interface rule 13 §6): copies of the first bytes of its bodies, as they pass. A call without
 * capture has none of this, and bodies go on unchanged either way. Memory is taken from a quota; without room the rest isn't kept.
 */
export class Capture {
  readonly mode: CaptureMode;
  readonly request = new Taken();
  readonly response = new Taken();
  /** The head as it was sent to the caller. */
  head: ResponseHead | null = null;
  /** Values of the secrets used in the call, by name: nothing that is kept may hold one. */
  secrets: ReadonlyMap<string, string> = NO_SECRETS;
  /** What was taken of the request is all there is to keep, whatever length its caller announced. */
  rewritten = false;
  /** There was no memory left. */
  crowded = false;
  /** Bits of the log row (request-logs/payloads/stored.shared.ts). */
  flags = 0;
  readonly #owner: string;
  readonly #room: Quota;
  #reserved = 0;

  constructor(mode: CaptureMode, owner: string, room: Quota) {
    this.mode = mode;
    this.#owner = owner;
    this.#room = room;
  }

  /** Bytes of the caller, as they came. */
  takeRequest(bytes: Buffer): void {
    this.#take(this.request, bytes);
  }

  /** Bytes of the upstream on their way to the caller. */
  takeResponse(bytes: Buffer): void {
    this.#take(this.response, bytes);
  }

  /** Whether an answer with this status is kept. */
  wants(status: number): boolean {
    return this.mode === 'all' || status >= 400;
  }

  /** The answer is our own after all: nothing of the upstream's is kept. */
  answerInstead(head: ResponseHead, body: string): void {
    this.response.chunks = [];
    this.response.bytes = 0;
    this.response.held = 0;
    this.head = head;
    this.#take(this.response, Buffer.from(body));
  }

  /** Gives the memory back. Nothing is taken afterwards. */
  release(): void {
    this.request.chunks = [];
    this.response.chunks = [];
    this.secrets = NO_SECRETS;
    this.#room.give(this.#owner, this.#reserved);
    this.#reserved = 0;
    this.crowded = true;
  }

  #take(into: Taken, bytes: Buffer): void {
    into.bytes += bytes.length;
    const wanted = Math.min(bytes.length, BODY_TAKEN - into.held);
    if (wanted <= 0 || this.crowded) return;
    if (!this.#room.take(this.#owner, wanted)) {
      this.crowded = true;
      return;
    }
    this.#reserved += wanted;
    into.held += wanted;
    into.chunks.push(Buffer.from(bytes.subarray(0, wanted)));
  }
}

const NO_SECRETS: ReadonlyMap<string, string> = new Map();
