import { uuidV7 } from '#server/crypto/random.ts';
import { copyJson, isNumber } from '#server/kernel/lossless-json.ts';
import { isObject, type Params } from '#server/mcp/messages.ts';
import type { AnswerStream } from './answer.ts';
import type { Controls } from './controls.ts';
import type { McpCall } from './mcp-call.ts';

/** Longer ones, and more of them that wait to be checked, are passed on as numbers. */
const MOST_CHARACTERS = 8 * 1024;
const MOST_WAITING = 100;

/**
 * What an upstream tells of the progress of one call, passed on whole and in its order when the caller asked for it. Its words are checked like an answer; where
 * they may not pass, or can't be checked in time, its numbers do.
 */
export class Progress {
  readonly #call: McpCall;
  readonly #stream: AnswerStream;
  readonly #controls: Controls;
  /** The caller's, which it gets back as it was. */
  readonly #token: unknown;
  /** The upstream's: those of several callers may be equal, and an upstream may round a number. Null when the caller asked for no progress. */
  readonly token: string | null;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(call: McpCall, stream: AnswerStream, controls: Controls, { _meta }: Params) {
    this.#call = call;
    this.#stream = stream;
    this.#controls = controls;
    this.#token = isObject(_meta) ? _meta.progressToken : undefined;
    this.token = typeof this.#token === 'string' || isNumber(this.#token) ? uuidV7() : null;
  }

  hear(params: Params): void {
    const { progress, total } = params;
    if (this.token === null || params.progressToken !== this.token || !isNumber(progress)) return;
    if (!(this.#call.req.headers.accept ?? '').includes('text/event-stream')) return;
    const numbers = { progressToken: this.#token, progress, ...(isNumber(total) && { total }) };
    const more = Object.keys(params).length > Object.keys(numbers).length;
    if (!more && this.#waiting === 0) {
      this.#tell(numbers);
      return;
    }
    const whole = more && this.#waiting < MOST_WAITING && JSON.stringify(params).length <= MOST_CHARACTERS;
    this.#waiting++;
    this.#last = this.#last
      .then(async () => {
        const copy = { ...copyJson(params), progressToken: this.#token };
        this.#tell(whole && (await this.#controls.progress(copy)) ? copy : numbers);
      })
      .finally(() => {
        this.#waiting--;
      });
  }

  /** Everything so far was passed on. */
  done(): Promise<void> {
    return this.#last;
  }

  #tell(params: Params): void {
    this.#stream.notify('notifications/progress', params);
  }
}
