import { ANSWER_SHAPE, isObject, type JsonObject, textAt } from '#server/ai/json.ts';
import { made } from '#server/ai/stream/event.ts';
import { failureAnswer } from '#server/ai/stream/failure-answer.ts';
import { assertJsonShape } from '#server/kernel/bounded-text.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { inSlices } from '#server/kernel/slices.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { Runtime } from '../../core/runtime.ts';
import { fieldOf } from '../../core/upstream-response.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { outlineSteps } from '../answer/outline.ts';
import { AnswerTooLarge, type Attempt } from './attempt.ts';
import { judgeFirstEvent, streams } from './first-event.ts';
import type { Outgoing } from './outgoing.ts';

const LARGEST_ANSWER = 64 * 1024 * 1024;
/** Longer answers are read on a thread, or passed on unread: to parse, copy and write one of this length takes 5 ms at most. */
const MOST_HERE = 64 * 1024;

/** A whole answer, nothing of which has reached the caller. */
export type WholeAnswer = {
  readonly bytes: Buffer;
  /** Its JSON, or what usage and status are read from where it is large; undefined for a file or speech. */
  readonly parsed: unknown;
  readonly large: boolean;
  /** Plain text of a transcription. */
  readonly transcript: boolean;
};

/**
 * Reads what an attempt brought as far as it can be judged before anything reaches the caller: the first event of a stream, or the whole of another answer;
 * null for a stream and for an error. What is no answer is thrown as the provider's failure, and an error that came with 200 gets its own status, so that
 * circuits, retries, other routes and charging all see the same.
 */
export async function readAnswer(call: AiCall, runtime: Runtime, attempt: Attempt, outgoing: Outgoing): Promise<WholeAnswer | null> {
  const { status, headers } = attempt;
  if (status >= 400) return null;
  if (status < 200 || status > 299 || status === 204)
    throw new UpstreamFault('upstream_protocol_error', 'The provider answered with a redirection or without an answer.', {
      unprocessed: true,
    });
  const encoding = fieldOf(headers, 'content-encoding');
  if (encoding !== undefined && encoding !== 'identity') throw noAnswer('The provider compressed its answer although it was asked not to.');
  if (streams(call, attempt)) {
    await judgeFirstEvent(attempt, outgoing);
    return null;
  }
  const bytes = await collected(call, runtime, attempt);
  const contentType = fieldOf(headers, 'content-type') ?? 'application/octet-stream';
  // Only a file, speech and a transcript may be something else: whatever else isn't JSON would pass all that looks at answers.
  const { shape } = outgoing.way;
  const json = (shape !== 'openai-audio' && shape !== 'openai-stored') || JSON_TYPE.test(contentType);
  const transcript = shape === 'openai-audio' && /^text\//i.test(contentType);
  const large = json && bytes.length > MOST_HERE;
  if (!json) return { bytes, parsed: transcript ? { text: bytes.toString('utf8') } : undefined, large, transcript };
  const parsed = large ? await inSlices(outlineSteps(bytes)) : parsedAnswer(bytes);
  if (parsed === undefined) throw noAnswer("The provider's answer is not JSON, or is nested too deep.");
  if (!large && isOwnWork(call)) {
    if (isObject(parsed) && isOnlyError(parsed)) {
      const failure = failureAnswer(made('sse', parsed));
      attempt.becomes(failure.status, Buffer.from(JSON.stringify(failure.body)));
      return null;
    }
    if (!isObject(parsed) || outgoing.translation?.answers(parsed) === false)
      throw noAnswer("The provider's answer is JSON, but no answer to such a call.");
  }
  return { bytes, parsed, large, transcript };
}

const noAnswer = (message: string) => new UpstreamFault('upstream_protocol_error', message);
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;

async function collected(call: AiCall, runtime: Runtime, attempt: Attempt): Promise<Buffer> {
  try {
    return await attempt.peek(LARGEST_ANSWER, (held) => runtime.bodies.hold(call, call.requestBytes + held));
  } catch (error) {
    if (error instanceof AnswerTooLarge) throw new UpstreamFault('upstream_response_too_large', "The provider's answer is too long.");
    throw error;
  }
}

/** An answer of {@link MOST_HERE} at most; undefined when it isn't JSON, or deeper than what is walked. */
function parsedAnswer(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    assertJsonShape(text, ANSWER_SHAPE);
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Stored objects and lists have forms and errors of their own, which are no failure of the call. */
function isOwnWork(call: AiCall): boolean {
  const { operation, storedId } = detectedOf(call);
  return storedId === undefined && operation !== 'models' && operation !== 'other';
}

/** An error, and beside it nothing that answers or counts: a failed object of Responses and an answer with usage stay what they are. */
function isOnlyError(body: JsonObject): boolean {
  const { error, ...rest } = body;
  if (textAt(rest, 'object') === 'response') return false;
  const told = typeof error === 'string' ? error !== '' : isObject(error) && Object.keys(error).length > 0;
  return told && Object.values(rest).every((value) => typeof value !== 'object' || value === null || isEmptyList(value));
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
