import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { UpstreamHandler } from '#server/platform/http-out/upstream-call.ts';
import type { Refused } from './refusal.ts';

/** What stands in the place of bytes: pieces in their order. `shown` is what may be kept of them; null: nothing. */
export type Edited = { pieces: readonly Buffer[]; shown: readonly Buffer[] | null };

/** Changes whole lines of a stream, each with its line end but perhaps the last. */
export type LineEdit = (lines: Buffer) => Promise<Edited | Refused>;

/** What happens to one answer. Its head is changed before anything is sent; a body is changed as a whole, line by line, or not at all. */
export type AnswerPlan =
  | { refuse: Refused }
  | { body: null; head: () => Promise<HeaderList | Refused> }
  | { body: 'whole'; whole: (body: Buffer) => Promise<(Edited & { headers: HeaderList }) | Refused> }
  | { body: LineEdit; head: () => Promise<HeaderList | Refused> };

/** A plane's hand in the answers of its upstreams. Null: this one goes on as it is. */
export type AnswerEdit = (status: number, headers: HeaderList) => AnswerPlan | null;

/** An answer that is changed as a whole is held in memory up to here (interface rule 12 §11). */
export const EDITED_RESPONSE = 10 * 1024 * 1024;

export type AnswerFlow = { pause(): void; resume(): void; abort(): void };

/** The upstream's answer as the scrub sees it. `mayHold` declares how many more bytes are held; false when there is no memory for them. */
export type ScrubbedSource = AnswerFlow & { mayHold(bytes: number): boolean };

/** Is told of an answer and tells it on; whoever is told has it wait, go on or stop by this, not by the upstream's call. */
export type ScrubbedHandler = UpstreamHandler & AnswerFlow;

/** Takes values out of one answer, between the upstream and whoever is told of it. */
export type AnswerScrub = (next: UpstreamHandler, source: ScrubbedSource) => ScrubbedHandler;
