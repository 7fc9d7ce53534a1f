import { isObject, type JsonObject, parsedJson, textAt } from '#server/ai/json.ts';
import { made } from '#server/ai/stream/event.ts';
import { failureAnswer } from '#server/ai/stream/failure-answer.ts';
import { fieldOf } from '../../core/upstream-response.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import type { Attempt } from './attempt.ts';
import { streams } from './first-event.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
/** Bytes of the largest answer that is read as an error; larger ones are answers. */
const MOST_BYTES = 64 * 1024;

/**
 * Some providers answer 200 with an error as the whole body. It makes the attempt the failure that it is, with its status, so that retries, other routes,
 * circuits and charging see it.
 */
export async function judgeWholeAnswer(call: AiCall, attempt: Attempt): Promise<void> {
  const { status, headers } = attempt;
  if (status < 200 || status > 299 || streams(call, attempt) || !hasNoStoredErrors(call)) return;
  if (!JSON_TYPE.test(fieldOf(headers, 'content-type') ?? '') || Number(fieldOf(headers, 'content-length') ?? 0) > MOST_BYTES) return;
  const pieces: Buffer[] = [];
  let bytes = 0;
  await attempt.inspect((piece) => {
    bytes += piece.length;
    pieces.push(piece);
    return bytes > MOST_BYTES;
  });
  if (bytes > MOST_BYTES) return;
  const text = Buffer.concat(pieces).toString('utf8');
  const body = text.includes('"error"') ? parsedJson(text) : undefined;
  if (!isObject(body) || !isOnlyError(body)) return;
  const failure = failureAnswer(made('sse', body));
  attempt.becomes(failure.status, Buffer.from(JSON.stringify(failure.body)));
}

/** Stored objects and lists have errors of their own, which are no failure of the call. */
function hasNoStoredErrors(call: AiCall): boolean {
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
