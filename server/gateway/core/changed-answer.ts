import { ANSWERS_CROWDED } from '#server/platform/http-out/faults.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import { type AnswerPlan, EDITED_RESPONSE, type LineEdit } from './answer-edit.ts';
import type { Capture } from './capture.ts';
import { CollectedBody } from './collected-body.ts';
import type { GatewayResponse } from './gateway-response.ts';
import { LineStage } from './line-stage.ts';
import { type Refused, refused } from './refusal.ts';

/** The exchange, as far as an answer that is changed needs it. */
export type AnswerPort = {
  readonly res: GatewayResponse;
  /** What is kept of the answer for the log; null for most calls. */
  readonly kept: () => Capture | null;
  readonly isOver: () => boolean;
  /** Declares how many bytes are held; false when there is no memory for them. */
  mayHold(bytes: number): boolean;
  pause(): void;
  resume(): void;
  /** Goes on with an unchanged body under this head. */
  pass(headers: HeaderList): void;
  data(bytes: Buffer): void;
  end(): void;
  /** Writes the head; `streams`: its body follows bit by bit. */
  writeHead(headers: HeaderList, streams: boolean): void;
  /** Something went on: the stream isn't idle. */
  touched(): void;
  finish(bytes: number | null): void;
  refuse(refusal: Refused): void;
};

/** One answer that the plane changes on its way: what came of it, and what is sent in its place (interface rule 10 §8). */
export class ChangedAnswer {
  readonly #port: AnswerPort;
  readonly #collected = new CollectedBody(EDITED_RESPONSE);
  readonly #plan: Exclude<AnswerPlan, { refuse: Refused }>;
  #lines: LineStage | undefined;
  /** What came while the head was being changed. */
  #early: Buffer[] = [];
  #ended = false;
  #passes = false;

  constructor(plan: Exclude<AnswerPlan, { refuse: Refused }>, port: AnswerPort) {
    this.#plan = plan;
    this.#port = port;
  }

  start(): void {
    const plan = this.#plan;
    if (plan.body === 'whole') return;
    this.#port.pause();
    this.#await(plan.head(), (headers) => {
      if (plan.body === null) {
        this.#passes = true;
        this.#port.pass(headers);
      } else this.#startLines(plan.body, headers);
      this.#catchUp();
    });
  }

  /** The bytes are lent. */
  data(bytes: Buffer): void {
    if (this.#plan.body === 'whole') this.#collect(bytes);
    else if (this.#lines === undefined) this.#early.push(Buffer.from(bytes));
    else {
      this.#port.touched();
      if (!this.#lines.push(bytes)) this.#port.pause();
    }
  }

  end(): void {
    if (this.#plan.body === 'whole') this.#changeWhole(this.#plan.whole);
    else if (this.#lines === undefined) this.#ended = true;
    else this.#lines.end();
  }

  stop(): void {
    this.#lines?.stop();
  }

  #collect(bytes: Buffer): void {
    const total = this.#collected.bytes + bytes.length;
    if (total > EDITED_RESPONSE)
      this.#port.refuse(
        refused('upstream_response_too_large', 'The upstream response must not exceed 10 MiB on a route with response actions.'),
      );
    else if (!this.#port.mayHold(total)) this.#port.refuse(refused('concurrency_limit_exceeded', ANSWERS_CROWDED));
    else this.#collected.add(bytes);
  }

  #changeWhole(change: Extract<AnswerPlan, { body: 'whole' }>['whole']): void {
    this.#await(change(this.#collected.take()), ({ headers, pieces, shown }) => {
      const { res } = this.#port;
      this.#port.writeHead(headers, false);
      let bytes = 0;
      res.cork();
      for (const piece of pieces) {
        bytes += piece.length;
        res.write(piece);
      }
      res.end(); // this uncorks, whenever it comes
      for (const one of shown ?? []) this.#port.kept()?.takeResponse(one);
      this.#port.finish(bytes);
    });
  }

  #startLines(edit: LineEdit, headers: HeaderList): void {
    const { res } = this.#port;
    const begin = () => {
      if (!res.headersSent) this.#port.writeHead(headers, true);
    };
    this.#lines = new LineStage(edit, {
      write: (pieces, shown) => {
        begin();
        this.#port.touched();
        for (const bytes of shown ?? []) this.#port.kept()?.takeResponse(bytes);
        let more = true;
        for (const piece of pieces) more = res.write(piece);
        if (!more) res.once('drain', () => this.#lines?.drained());
        return more;
      },
      end: () => {
        begin();
        res.end();
        this.#port.finish(null);
      },
      fail: (refusal) => this.#port.refuse(refusal),
      resume: () => this.#port.resume(),
      mayHold: (bytes) => this.#port.mayHold(bytes),
      tooLong: () => refused('upstream_response_too_large', 'A line of the upstream response must not exceed 1 MiB on this route.'),
    });
  }

  /** Takes what came meanwhile, and goes on reading. */
  #catchUp(): void {
    const early = this.#early;
    this.#early = [];
    for (const bytes of early) {
      if (this.#passes) this.#port.data(bytes);
      else this.data(bytes);
    }
    if (!this.#ended) this.#port.resume();
    else if (this.#passes) this.#port.end();
    else this.end();
  }

  /** Goes on with what the plane made of it, unless the call is over by then. */
  #await<T extends object>(work: Promise<T | Refused>, next: (made: T) => void): void {
    const broken = (error: unknown) => refused('internal_error', 'The response could not be processed.', { cause: error });
    work
      .catch(broken)
      .then((made) => {
        if (this.#port.isOver()) return;
        if ('code' in made) this.#port.refuse(made);
        else next(made);
      })
      .catch((error: unknown) => this.#port.refuse(broken(error)));
  }
}
