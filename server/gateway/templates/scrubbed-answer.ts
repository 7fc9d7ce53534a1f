import { type Find, type Found, isTooMuchToFind, masked, patientFinder, type Secrets } from '#server/custody/redaction/redaction.ts';
import { ScrubbedText } from '#server/custody/redaction/scrubbed-text.ts';
import { answersCrowded, UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { UpstreamHandler } from '#server/platform/http-out/upstream-call.ts';
import type { AnswerScrub, ScrubbedHandler, ScrubbedSource } from '../core/answer-edit.ts';
import type { Call } from '../core/call.ts';
import { type Refused, refused } from '../core/refusal.ts';
import { fieldOf, isAlwaysStreamed, OF_THE_BODY } from '../core/upstream-response.ts';
import { codingsOf, decompressed } from './content-codings.ts';
import type { Resolution } from './resolution.ts';

/** Answers up to here are held whole (interface rule 30 §7.4); longer ones, and those that don't tell their length, leave as they come. */
const WHOLE = 5 * 1024 * 1024;
/** Fields whose values are numbers and words of ours or of HTTP, whatever a secret is. */
const FRAMING = new Set(['content-length', 'transfer-encoding']);

/**
 * Takes the values of secrets that the workspace may use and not see out of an answer, before anything else gets to know it: fields and reason of the head, and
 * the body, in every spelling that `redactor` knows. What can't be looked through isn't sent.
 */
const answerScrub =
  ({ useOnly, hidesAll }: Resolution): AnswerScrub =>
  (next, source) =>
    new ScrubbedAnswer(
      next,
      source,
      useOnly,
      hidesAll ? 'the secrets that the call sends' : 'a secret that is shared with this workspace for use only',
    );

/**
 * Has the answer scrubbed, and asks the upstream for one that can be. Refuses what no answer can be searched for, before the upstream acts on a call whose
 * answer nobody would see.
 */
export function scrubAnswer(call: Pick<Call, 'wholeAnswer' | 'scrub'>, resolution: Resolution): Refused | undefined {
  if (resolution.useOnly.size === 0) return undefined;
  call.wholeAnswer = true;
  call.scrub = answerScrub(resolution);
  return tooMuchHidden(resolution);
}

/** Also for what a signature added to the values. */
export function tooMuchHidden({ useOnly, hidesAll }: Resolution): Refused | undefined {
  if (!isTooMuchToFind(useOnly)) return undefined;
  const which = hidesAll ? 'that its stored answer must not show' : 'that are shared with this workspace for use only';
  return refused(
    'template_invalid',
    `The call sends secrets ${which} and that hold more than 1 MiB together, for which no answer can be searched. Use fewer or shorter ones in one call.`,
  );
}

type Head = { status: number; headers: HeaderList; reason: string };

class ScrubbedAnswer implements ScrubbedHandler {
  readonly #next: UpstreamHandler;
  readonly #source: ScrubbedSource;
  readonly #find: Find;
  readonly #text: ScrubbedText;
  /** What is searched for, in a message. */
  readonly #hidden: string;
  #mode: 'whole' | 'stream' = 'stream';
  #head: Head = { status: 0, headers: [], reason: '' };
  #codings: string[] = [];
  /** Whether what came may not wait longer than to the end of its line: an event would be a day late. */
  #byLines = false;
  #queue: Buffer[] = [];
  #queued = 0;
  #ended = false;
  #busy = false;
  #paused = false;
  #over = false;

  constructor(next: UpstreamHandler, source: ScrubbedSource, secrets: Secrets, hidden: string) {
    this.#next = next;
    this.#source = source;
    this.#hidden = hidden;
    this.#find = patientFinder(secrets);
    this.#text = new ScrubbedText(this.#find, Math.max(...[...secrets.values()].map((value) => Buffer.byteLength(value))));
  }

  onHead(status: number, headers: HeaderList, reason: string): void {
    this.#head = { status, headers, reason };
    if (status === 206 || fieldOf(headers, 'content-range') !== undefined) {
      this.#fail(this.#unsearchable('it is part of another one'));
      return;
    }
    this.#codings = codingsOf(fieldOf(headers, 'content-encoding') ?? '');
    const length = Number(fieldOf(headers, 'content-length') ?? Number.NaN);
    const isShort = length <= WHOLE && !isAlwaysStreamed(headers) && this.#source.mayHold(length);
    if (isShort || this.#codings.length > 0) this.#mode = 'whole';
    else this.#byLines = isAlwaysStreamed(headers);
    if (this.#mode === 'stream') this.#work(() => this.#begin());
  }

  /** The bytes are lent. */
  onData(bytes: Buffer): void {
    if (this.#over) return;
    this.#queue.push(Buffer.from(bytes));
    this.#queued += bytes.length;
    if (this.#mode === 'stream') {
      this.#source.pause();
      this.#go();
    } else if (this.#queued > WHOLE) this.#fail(this.#tooLarge());
    // Only of a compressed answer it isn't known before how long it is.
    else if (this.#codings.length > 0 && !this.#source.mayHold(bytes.length)) this.#fail(answersCrowded());
  }

  onEnd(): void {
    this.#ended = true;
    if (this.#mode === 'whole') this.#work(() => this.#whole());
    else this.#go();
  }

  onFault(fault: UpstreamFault): void {
    this.#fail(fault);
  }

  pause(): void {
    this.#paused = true;
    this.#source.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#go();
  }

  abort(): void {
    this.#over = true;
    this.#queue = [];
    this.#source.abort();
  }

  /** One step at a time; the upstream waits while nothing more is wanted. */
  #work(step: () => Promise<void>): void {
    this.#busy = true;
    step()
      .catch((error: unknown) =>
        this.#fail(new UpstreamFault('internal_error', 'The upstream response could not be processed.', { cause: error })),
      )
      .finally(() => {
        this.#busy = false;
        this.#go();
      });
  }

  #go(): void {
    if (this.#busy || this.#paused || this.#over || this.#mode === 'whole') return;
    if (this.#queue.length > 0) this.#work(() => this.#pass());
    else if (this.#ended) this.#work(() => this.#end());
    else this.#source.resume();
  }

  /** The head of an answer that leaves as it comes; its length isn't known. */
  async #begin(): Promise<void> {
    const { status, headers, reason } = this.#head;
    this.#source.pause();
    const bodiless = status === 204 || status === 304;
    await this.#tellHead({ status, reason, headers: bodiless ? headers : withoutFields(headers, OF_THE_BODY) });
  }

  async #pass(): Promise<void> {
    const bytes = this.#queue.length === 1 ? (this.#queue[0] as Buffer) : Buffer.concat(this.#queue);
    this.#queue = [];
    this.#queued = 0;
    const due = this.#byLines ? Math.max(bytes.lastIndexOf('\n'), bytes.lastIndexOf('\r')) + 1 : 0;
    this.#tell(await this.#text.push(bytes, due));
  }

  async #end(): Promise<void> {
    this.#tell(await this.#text.end());
    this.#tellEnd();
  }

  /** An answer that came whole leaves with its length, and as it came where no value is in it. */
  async #whole(): Promise<void> {
    const { status, headers, reason } = this.#head;
    const body = this.#queue.length === 1 ? (this.#queue[0] as Buffer) : Buffer.concat(this.#queue);
    this.#queue = [];
    const plain = await decompressed(body, this.#codings, WHOLE);
    if (plain === 'unreadable') return this.#fail(this.#unsearchable('its compression is unknown or broken'));
    if (plain === 'too_large') return this.#fail(this.#tooLarge());
    const [most, rest] = [await this.#text.push(plain), await this.#text.end()];
    if (most === null || rest === null) return this.#fail(this.#unsearchable('it is encoded in too many ways'));
    if (!this.#text.changed) {
      await this.#tellHead(this.#head);
      if (body.length > 0) this.#tell(body);
    } else {
      const clean = Buffer.concat([most, rest]);
      const kept = withoutFields(headers, CHANGED);
      await this.#tellHead({ status, reason, headers: [...kept, 'content-length', String(clean.length)] });
      this.#tell(clean);
    }
    this.#tellEnd();
  }

  async #tellHead({ status, headers, reason }: Head): Promise<void> {
    const fields = [reason, ...headers.map((text, i) => (FRAMING.has(headers[i - (i % 2)] as string) ? '' : text))];
    const found = await this.#find(Buffer.from(fields.join('\n'), 'latin1'));
    if (this.#over) return;
    if (found === null) this.#fail(this.#unsearchable('its head is encoded in too many ways'));
    else if (found.length === 0) this.#next.onHead(status, headers, reason);
    else {
      const [clean = '', ...others] = maskedFields(fields, found);
      // A name that holds a value has no place in an answer.
      const kept = headers.filter((_, i) => others[i - (i % 2)] === fields[i - (i % 2) + 1]);
      const values = others.filter((_, i) => others[i - (i % 2)] === fields[i - (i % 2) + 1]);
      this.#next.onHead(
        status,
        Object.assign(
          kept.map((text, i) => (i % 2 === 0 || FRAMING.has(kept[i - 1] as string) ? text : (values[i] as string))),
          { spelled: headers.spelled },
        ),
        clean,
      );
    }
  }

  #tell(bytes: Buffer | null): void {
    if (this.#over) return;
    if (bytes === null) this.#fail(this.#unsearchable('it is encoded in too many ways'));
    else if (bytes.length > 0) this.#next.onData(bytes);
  }

  #tellEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#next.onEnd();
  }

  #unsearchable(why: string): UpstreamFault {
    const message = `The upstream's response is withheld, since it can't be searched for ${this.#hidden}: ${why}. Ask for a whole, uncompressed response.`;
    return new UpstreamFault('upstream_protocol_error', message);
  }

  #tooLarge(): UpstreamFault {
    const message = `A compressed upstream response must not exceed 5 MiB while it is searched for ${this.#hidden}. Ask for an uncompressed response.`;
    return new UpstreamFault('upstream_response_too_large', message);
  }

  #fail(fault: UpstreamFault): void {
    if (this.#over) return;
    this.abort();
    this.#next.onFault(fault);
  }
}

const CHANGED = new Set([...OF_THE_BODY, 'content-encoding']);

const withoutFields = (headers: HeaderList, names: ReadonlySet<string>): string[] =>
  headers.filter((_, i) => !names.has(headers[i - (i % 2)] as string));

/** Texts that were searched with a byte between any two of them. */
function maskedFields(fields: readonly string[], found: readonly Found[]): string[] {
  let at = 0;
  return fields.map((text) => {
    const [from, to] = [at, at + text.length];
    at = to + 1;
    const inside = found.filter((one) => one.from < to && one.to > from);
    if (inside.length === 0) return text;
    const clipped = inside.map((one) => ({ name: one.name, from: Math.max(0, one.from - from), to: Math.min(text.length, one.to - from) }));
    return masked(Buffer.from(text, 'latin1'), clipped).toString('latin1');
  });
}
