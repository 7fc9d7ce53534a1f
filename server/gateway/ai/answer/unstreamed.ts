import { mayKeep } from '#server/ai/cache/may-keep.ts';
import { type JsonObject, textAt } from '#server/ai/json.ts';
import { adapterOf } from '#server/ai/shapes/adapters.ts';
import type { Translation } from '#server/ai/translate/translation.ts';
import { log } from '#server/platform/log.ts';
import { fieldOf } from '../../core/upstream-response.ts';
import { aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { keeps, keepText } from '../cache/keep.ts';
import { settleBackground } from '../money/background.ts';
import { charge } from '../money/record.ts';
import { noteObjects } from '../stored-objects.ts';
import type { Answered } from '../upstream/ask.ts';
import type { WholeAnswer } from '../upstream/read-answer.ts';
import { withoutSecrets } from './echoes.ts';
import { type Judged, judgeWhole } from './judge.ts';
import { type JudgedAnswer, judgeLarge } from './large.ts';
import { usageOf } from './used.ts';
import { sendWhole } from './whole.ts';

/** An answer that isn't streamed, on its way to the caller. Undefined when it was sent. */
export async function sendAnswer(call: AiCall, found: Answered, answer: WholeAnswer): Promise<Judged> {
  const { attempt, outgoing, candidate, resolution } = found;
  const { status, headers } = attempt;
  const { bytes, parsed, large, transcript } = answer;
  const contentType = fieldOf(headers, 'content-type') ?? 'application/octet-stream';
  const theirs = adapterOf(outgoing.way.shape);
  charge(call, candidate.provider, outgoing.model, usageOf(call, theirs, parsed, found, bytes));
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

function translatedBack(translation: Translation, answer: unknown): JsonObject | undefined {
  try {
    return translation.answer(answer);
  } catch (error) {
    log.warn({ err: error, fault: 'shape' }, 'an answer could not be translated'); // upstreams choose how often
    return undefined;
  }
}
