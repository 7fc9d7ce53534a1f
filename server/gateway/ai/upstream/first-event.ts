import { adapterOf } from '#server/ai/shapes/adapters.ts';
import { DONE, dataOf, jsonOf, MalformedFrame, type StreamEvent } from '#server/ai/stream/event.ts';
import { failureAnswer } from '#server/ai/stream/failure-answer.ts';
import { streamReader } from '#server/ai/stream/reader.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { fieldOf } from '../../core/upstream-response.ts';
import type { AiCall } from '../ai-call.ts';
import type { Attempt } from './attempt.ts';
import type { Outgoing } from './outgoing.ts';

const STREAMED = /^(?:text\/event-stream|application\/x-ndjson|application\/vnd\.amazon\.eventstream)\b/i;
/** Bytes of a stream that are waited for until its first event is there. */
const MOST_BYTES = 64 * 1024;
/** Comments and pings before the first event, after which the caller gets them instead of silence. */
const MOST_IDLE = 4;

/** Whether an attempt's answer is relayed event by event. */
export const streams = (call: AiCall, { headers }: Attempt): boolean =>
  call.state.stream && STREAMED.test(fieldOf(headers, 'content-type') ?? '');

/**
 * Waits for the first event of a stream, of which nothing has reached the caller yet. An error there makes the attempt the failure that it is, with its
 * status; a stream that ends or can't be read before it is thrown as the provider's failure.
 */
export async function judgeFirstEvent(attempt: Attempt, { way }: Outgoing): Promise<void> {
  const { wire, failure } = adapterOf(way.shape).stream;
  const reader = streamReader(wire === 'json-list' ? 'sse' : wire, MOST_BYTES);
  let [failed, seen, bytes, idle]: [StreamEvent | undefined, boolean, number, number] = [undefined, false, 0, 0];
  /** Whether the event says what the answer is. */
  const tells = (event: StreamEvent): boolean => {
    if (failure(event) !== undefined) failed = event;
    else if (isIdle(event)) return ++idle >= MOST_IDLE;
    else if (!isEnd(event)) jsonOf(event);
    return true;
  };
  try {
    await attempt.inspect((piece) => {
      bytes += piece.length;
      // Events keep views of their bytes.
      for (const events of reader.push(Buffer.from(piece))) seen ||= events.some(tells);
      return seen || bytes > MOST_BYTES;
    });
    const last = seen ? undefined : reader.end();
    if (last) seen = tells(last);
  } catch (error) {
    if (!(error instanceof MalformedFrame)) throw error;
    // A frame may be longer than what is waited for here.
    if (bytes <= MOST_BYTES) throw new UpstreamFault('upstream_protocol_error', 'The provider sent a stream that could not be read.');
  }
  if (failed) {
    const { status, body } = failureAnswer(failed);
    attempt.becomes(status, Buffer.from(JSON.stringify(body)));
  } else if (!seen && bytes <= MOST_BYTES)
    throw attempt.broken ?? new UpstreamFault('upstream_protocol_error', "The provider's stream ended before its first event.");
}

const isEnd = (event: StreamEvent): boolean => dataOf(event).trim() === DONE;

/** A comment or a ping, which says nothing of the answer. */
function isIdle(event: StreamEvent): boolean {
  const data = dataOf(event);
  return data === '' || /^\{\s*"type"\s*:\s*"ping"/.test(data);
}
