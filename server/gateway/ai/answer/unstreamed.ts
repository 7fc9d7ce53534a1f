import { mayKeep } from '#server/ai/cache/may-keep.ts';
import { ANSWER_SHAPE, type JsonObject, textAt } from '#server/ai/json.ts';
import { adapterOf } from '#server/ai/shapes/adapters.ts';
import type { Translation } from '#server/ai/translate/translation.ts';
import { assertJsonShape } from '#server/kernel/bounded-text.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { inSlices } from '#server/kernel/slices.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { log } from '#server/platform/log.ts';
import type { Runtime } from '../../core/runtime.ts';
import { fieldOf } from '../../core/upstream-response.ts';
import { aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { keeps, keepText } from '../cache/keep.ts';
import { settleBackground } from '../money/background.ts';
import { charge } from '../money/record.ts';
import { chargeUnanswered } from '../money/unanswered.ts';
import { noteObjects } from '../stored-objects.ts';
import type { Answered } from '../upstream/ask.ts';
import { AnswerTooLarge } from '../upstream/attempt.ts';
import { refusalOfFault } from '../upstream/fault.ts';
import { withoutSecrets } from './echoes.ts';
import { type Judged, judgeWhole } from './judge.ts';
import { type JudgedAnswer, judgeLarge } from './large.ts';
import { outlineSteps } from './outline.ts';
import { usageOf } from './used.ts';
import { sendWhole } from './whole.ts';

const LARGEST_ANSWER = 64 * 1024 * 1024;
/** An answer that isn't streamed, on its way to the caller. Undefined when it was sent. */
export async function whole(call: AiCall, runtime: Runtime, found: Answered): Promise<Judged> {
  const { attempt, outgoing, candidate, resolution } = found;
  const { status, headers } = attempt;
  const contentType = fieldOf(headers, 'content-type') ?? 'application/octet-stream';
  let bytes: Buffer;
  try {
    bytes = await attempt.collect(LARGEST_ANSWER, (held) => runtime.bodies.hold(call, call.requestBytes + held));
  } catch (error) {
    chargeUnanswered(call, { provider: candidate.provider, model: outgoing.model, attempt });
    if (error instanceof UpstreamFault) return { ...refusalOfFault(error), upstreamStatus: status };
    if (error instanceof AnswerTooLarge)
      return aiRefusal('upstream_invalid_response', "The provider's answer is too long.", { upstreamStatus: status });
    throw error;
  }
  const theirs = adapterOf(outgoing.way.shape);
  // Only a file, speech and a transcript may be something else: whatever else isn't JSON would pass all that looks at answers.
  const { shape } = outgoing.way;
  const json = (shape !== 'openai-audio' && shape !== 'openai-stored') || isJson(contentType);
  const transcript = shape === 'openai-audio' && /^text\//i.test(contentType);
  const large = json && bytes.length > MOST_HERE;
  /** Of a large answer, what usage and status are read from. */
  const parsed = transcript
    ? { text: bytes.toString('utf8') }
    : large
      ? await inSlices(outlineSteps(bytes))
      : json
        ? parsedAnswer(bytes)
        : undefined;
  charge(call, candidate.provider, outgoing.model, usageOf(call, theirs, parsed, found, bytes));
  if (parsed === undefined && json)
    return aiRefusal('upstream_invalid_response', "The provider's answer is not JSON, or is nested too deep.", { upstreamStatus: status });
  if (parsed !== undefined && detectedOf(call).storedId !== undefined) await settleBackground(call, parsed, theirs.usage(parsed));
  const passed = large
    ? await judgeLarge(call, found, bytes, textAt(parsed, 'id'))
    : parsed === undefined
      ? { body: bytes, kept: undefined }
      : await judgeSmall(call, found, bytes, parsed, transcript);
  if (!('body' in passed)) {
    const { verdict } = passed;
    return typeof verdict === 'object' ? { ...verdict, upstreamStatus: status } : verdict;
  }
  const body = await withoutSecrets(passed.body, resolution.secrets);
  if (body === null) return aiRefusal('upstream_invalid_response', ECHOES, { upstreamStatus: status });
  call.origin = 'upstream';
  sendWhole(call, { status, contentType, headers, body }, resolution.secrets.values());
  if (passed.kept !== undefined) await keepText(call, passed.kept, resolution.secrets.values());
  return undefined;
}

/** Longer answers are read on a thread, or passed on unread: to parse, copy and write one of this length takes 5 ms at most. */
const MOST_HERE = 64 * 1024;
const ECHOES =
  "The provider's answer holds the credential of this agent, in a form that can't be taken out. Check the upstream of its route.";

/** The same as {@link judgeLarge}, for an answer that is parsed where it is. */
async function judgeSmall(call: AiCall, found: Answered, bytes: Buffer, parsed: unknown, transcript: boolean): Promise<JudgedAnswer> {
  const { translation, way } = found.outgoing;
  const theirs = adapterOf(way.shape);
  await noteObjects(call, parsed);
  const kept = keeps(call) && !transcript ? keptForm(call, translation, parsed) : undefined;
  const { verdict, changed } = await judgeWhole(call, theirs, parsed);
  if (verdict) return { verdict };
  if (translation !== null) {
    const back = translatedBack(translation, parsed);
    if (back !== undefined) return { body: Buffer.from(JSON.stringify(back)), kept };
    return { verdict: aiRefusal('upstream_invalid_response', "The provider's answer could not be read.") };
  }
  if (!changed) return { body: bytes, kept };
  return { body: Buffer.from(transcript ? (parsed as { text: string }).text : JSON.stringify(parsed)), kept };
}

/** As the provider gave it, in the caller's shape; undefined for one that isn't kept. */
function keptForm(call: AiCall, translation: Translation | null, answer: unknown): string | undefined {
  const form = translation === null ? answer : translatedBack(translation, answer);
  const { adapter } = call.state;
  return adapter && mayKeep(adapter, form, detectedOf(call).operation) ? JSON.stringify(form) : undefined;
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

function translatedBack(translation: Translation, answer: unknown): JsonObject | undefined {
  try {
    return translation.answer(answer);
  } catch (error) {
    log.warn({ err: error, fault: 'shape' }, 'an answer could not be translated'); // upstreams choose how often
    return undefined;
  }
}

const isJson = (contentType: string): boolean => /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType);
