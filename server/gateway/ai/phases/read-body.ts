import { isObject, type JsonObject, MESSAGE_SHAPE, MOST_EXACT } from '#server/ai/json.ts';
import { resolveModel } from '#server/ai/models/policy.ts';
import { wayTo } from '#server/ai/providers/serve.ts';
import { adapterOf } from '#server/ai/shapes/adapters.ts';
import { settleNumbers } from '#server/ai/shapes/common-body.ts';
import type { Detected } from '#server/ai/shapes/detect.ts';
import { jsonShapeSteps, parseExactWithinSteps } from '#server/kernel/bounded-text.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { inSlices, paced } from '#server/kernel/slices.ts';
import { acceptBody } from '../../core/listener.ts';
import { readBody as readWhole } from '../../core/request-body.ts';
import type { Runtime } from '../../core/runtime.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import type { AiCall } from '../ai-call.ts';
import { imageUploadSteps } from '../image-upload.ts';
import { modelPolicy } from './choose-model.ts';

const MIB = 1024 * 1024;
const JSON_LIMIT = 10 * MIB;
const MULTIPART_LIMIT = 25 * MIB;

/** Step 5: a path that means one thing, and a body that is read once: what is checked is what is sent. */
export function readBody(call: AiCall, runtime: Runtime): AiRefused | undefined | Promise<AiRefused | undefined> {
  const { detected } = call.state;
  if (detected === null) return aiRefusal('internal_error', 'The call was not looked at.');
  if ('refuse' in detected) return aiRefusal(detected.refuse, detected.description);
  call.state.query = detected.query.size > 0 ? detected.query.toString() : null;
  call.state.adapter = adapterOf(detected.shape) ?? null;
  if (call.method !== 'POST') return judgeShape(call, detected);
  const taken = call.contentLength === 0 ? parseJson(call, EMPTY) : take(call, runtime, detected);
  return taken instanceof Promise ? taken.then((refusal) => refusal ?? judgeShape(call, detected)) : (taken ?? judgeShape(call, detected));
}

/** Whether the agent's provider can be asked in the caller's shape at all. */
function judgeShape(call: AiCall, detected: Detected): AiRefused | undefined {
  if (detected.shape === 'models') return undefined;
  const { agent, adapter, body } = call.state;
  const asked = detected.modelInPath ?? (body && adapter?.model(body)) ?? undefined;
  const chosen = resolveModel(modelPolicy(call), asked, agent?.provider ?? 'custom');
  const way = wayTo(agent?.provider ?? null, detected, 'refuse' in chosen ? (asked ?? '') : chosen.final);
  return 'refuse' in way ? aiRefusal(way.refuse, way.description) : undefined;
}

const EMPTY = Buffer.alloc(0);

async function take(call: AiCall, runtime: Runtime, detected: Detected): Promise<AiRefused | undefined> {
  if (call.contentEncoding !== '' && call.contentEncoding !== 'identity')
    return aiRefusal('invalid_request_body', 'The request body must not be compressed.');
  const multipart = /^multipart\/form-data\s*;/i.test(call.contentType);
  if (multipart && detected.shape !== 'openai-audio' && detected.shape !== 'openai-images')
    return aiRefusal('invalid_request_body', 'The request body must be JSON.');
  const limit = multipart ? MULTIPART_LIMIT : JSON_LIMIT;
  if (call.contentLength > limit) return tooLarge(limit);
  acceptBody(call.req, call.res);
  const read = await readWhole(call.req, limit, (bytes) => runtime.bodies.hold(call, bytes));
  if (read.state === 'longer') return tooLarge(limit);
  if (read.state === 'crowded')
    return aiRefusal('concurrency_limited', 'Too many request bodies are held in memory. Try again shortly.', { retryAfter: 1 });
  if (read.body === null) return aiRefusal('invalid_request_body', "The request body wasn't fully received.");
  call.requestBytes = read.body.length;
  call.body = read.body;
  if (!multipart) return parseJson(call, read.body);
  call.state.multipart = true;
  if (detected.shape === 'openai-images') call.state.upload = await inSlices(imageUploadSteps(read.body, call.contentType));
  return undefined;
}

const tooLarge = (limit: number) => aiRefusal('payload_too_large', `The request body must not exceed ${limit / MIB} MiB.`);

async function parseJson(call: AiCall, bytes: Buffer): Promise<AiRefused | undefined> {
  const body = await parseMessage(bytes);
  if (typeof body === 'string') return aiRefusal('invalid_request_body', body);
  try {
    call.state.adapter?.prepare(body);
  } catch {
    return aiRefusal('invalid_request_body', 'The request body is not a request of this kind.');
  }
  call.state.body = body;
  return undefined;
}

/**
 * A body as an object, or why it is none. Of a member that comes twice the last counts, for us as for most providers; it is written anew before it is sent.
 */
export async function parseMessage(bytes: Buffer): Promise<JsonObject | string> {
  try {
    const text = utf8.decode(bytes);
    await paced(jsonShapeSteps(text, MESSAGE_SHAPE), text.length);
    const body = text === '' ? {} : await paced(parseExactWithinSteps(text, MOST_EXACT), text.length);
    if (!isObject(body)) return 'The request body must be a JSON object.';
    settleNumbers(body);
    return body;
  } catch (error) {
    return error instanceof Refusal ? error.message : 'The request body is not valid JSON in UTF-8.';
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
