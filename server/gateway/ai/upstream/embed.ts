import { isObject, listOf, objectsOf, parsedJson } from '#server/ai/json.ts';
import { wayTo } from '#server/ai/providers/serve.ts';
import { adapterOf } from '#server/ai/shapes/adapters.ts';
import { type Detected, detect } from '#server/ai/shapes/detect.ts';
import { chargeable } from '#server/ai/usage/usage.ts';
import { asDoubles } from '#server/kernel/lossless-json.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { log } from '#server/platform/log.ts';
import { poolOf } from '../../core/exchange-parts.ts';
import type { Runtime } from '../../core/runtime.ts';
import { upstreamHeaders } from '../../core/upstream-headers.ts';
import type { AiCall } from '../ai-call.ts';
import { charge } from '../money/record.ts';
import { chargeUnanswered } from '../money/unanswered.ts';
import { AnswerTooLarge, Attempt } from './attempt.ts';
import type { CallerGone } from './caller.ts';
import { candidatesOf } from './candidates.ts';
import { OF_SHAPES, targetOf } from './outgoing.ts';
import { prepare } from './prepare.ts';

const TIMEOUT_MS = 10_000;
const LARGEST = 1024 * 1024;
const MOST_DIMENSIONS = 8_192;

/** The embedding of a text by the agent's embedding model, at its primary route; null when the provider makes none. It is charged to the call. */
export async function embed(call: AiCall, runtime: Runtime, caller: CallerGone, text: string): Promise<Float32Array | null> {
  const model = call.state.agent?.cache_embedding_model;
  const [candidate] = candidatesOf(call);
  const detected = detect('POST', '/v1/embeddings', {}) as Detected;
  if (!model || !candidate) return null;
  const known = candidate.provider === 'custom' ? null : candidate.provider;
  const way = wayTo(known, detected, model);
  if ('refuse' in way) return null;
  const { body: own } = call;
  const body = Buffer.from(JSON.stringify({ model, input: text }));
  const sent = { textBytes: body.length, images: 0 };
  let attempt: Attempt | undefined;
  try {
    const outgoing = {
      way,
      model,
      body,
      dropped: OF_SHAPES,
      translation: null,
      target: targetOf({ provider: known, way, detected, model, stream: false }),
    };
    const resolution = await prepare(call, runtime, candidate, outgoing);
    const target = call.upstream;
    if ('code' in resolution || target === null) return null;
    attempt = new Attempt(target.host, TIMEOUT_MS, TIMEOUT_MS);
    caller.aborts(attempt);
    const headers = upstreamHeaders(call, runtime.privateHeaders);
    await attempt.send(poolOf(call, runtime, target), { path: call.upstreamPath, method: 'POST', headers, body });
    if (attempt.status !== 200) {
      attempt.abort();
      return null;
    }
    const answer = parsedJson((await attempt.collect(LARGEST, (held) => runtime.bodies.hold(call, call.requestBytes + held))).toString());
    charge(call, candidate.provider, model, chargeable(adapterOf('openai-embeddings')?.usage(answer), sent, 0));
    return vectorIn(asDoubles(answer));
  } catch (error) {
    if (!(error instanceof UpstreamFault || error instanceof AnswerTooLarge)) throw error;
    log.info({ err: error, request_id: call.requestId }, 'an embedding could not be made');
    const fault = error instanceof UpstreamFault ? { fault: error } : {};
    if (attempt) chargeUnanswered(call, { provider: candidate.provider, model, attempt, sent, ...fault });
    return null;
  } finally {
    call.body = own;
  }
}

function vectorIn(answer: unknown): Float32Array | null {
  const numbers = isObject(answer) ? listOf(objectsOf(answer.data)[0]?.embedding) : [];
  const fits =
    numbers.length > 0 && numbers.length <= MOST_DIMENSIONS && numbers.every((one) => typeof one === 'number' && Number.isFinite(one));
  return fits ? Float32Array.from(numbers as number[]) : null;
}
