import { adapterOf } from '#server/ai/shapes/adapters.ts';
import { dataOf, MalformedFrame, type StreamEvent } from '#server/ai/stream/event.ts';
import { failureAnswer } from '#server/ai/stream/failure-answer.ts';
import { streamReader } from '#server/ai/stream/reader.ts';
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
 * status, so that retries, other routes and circuits see it.
 */
export async function judgeFirstEvent(call: AiCall, attempt: Attempt, { way }: Outgoing): Promise<void> {
  if (attempt.status < 200 || attempt.status > 299 || !streams(call, attempt)) return;
  const { wire, failure } = adapterOf(way.shape).stream;
  const reader = streamReader(wire === 'json-list' ? 'sse' : wire, MOST_BYTES);
  let failed: StreamEvent | undefined;
  let bytes = 0;
  let idle = 0;
  await attempt.inspect((piece) => {
    bytes += piece.length;
    try {
      // Events keep views of their bytes.
      for (const events of reader.push(Buffer.from(piece))) {
        for (const event of events) {
          if (failure(event) !== undefined) failed = event;
          else if (isIdle(event) && ++idle < MOST_IDLE) continue;
          return true;
        }
      }
    } catch (error) {
      // Whoever relays the stream says what is wrong with it.
      if (!(error instanceof MalformedFrame)) throw error;
      return true;
    }
    return bytes > MOST_BYTES;
  });
  if (!failed) return;
  const { status, body } = failureAnswer(failed);
  attempt.becomes(status, Buffer.from(JSON.stringify(body)));
}

/** A comment or a ping, which says nothing of the answer. */
function isIdle(event: StreamEvent): boolean {
  const data = dataOf(event);
  return data === '' || /^\{\s*"type"\s*:\s*"ping"/.test(data);
}
