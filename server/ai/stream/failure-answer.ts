import { isObject, type JsonObject, objectOf, table, textAt } from '../json.ts';
import { jsonOf, nameOf, type StreamEvent } from './event.ts';

/** Words by which providers name a failure in a stream, and the status that they answer with otherwise. */
const STATUSES = table<number>({
  invalid_request_error: 400,
  invalid_prompt: 400,
  validationException: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  throttlingException: 429,
  api_error: 500,
  server_error: 500,
  internalServerException: 500,
  modelStreamErrorException: 500,
  serviceUnavailableException: 503,
  modelTimeoutException: 504,
  timeout_error: 504,
  overloaded_error: 529,
});
const UNKNOWN = 502;

/** An error event as the answer that the provider would have given before a stream began: its status, and the same error as a body. */
export function failureAnswer(event: StreamEvent): { status: number; body: JsonObject } {
  const json = objectOf(jsonOf(event));
  const failed = isObject(json.response) ? objectOf(json.response.error) : objectOf(json.error ?? json);
  const words = [failed.code, failed.type, failed.status, nameOf(event).slice(1)];
  const status = words.map(statusOf).find((one) => one !== undefined) ?? UNKNOWN;
  const bare = json.error === undefined && (isObject(json.response) || textAt(json, 'type') === 'error');
  if (!bare) return { status, body: json };
  // Of Responses, whose errors have members of their own in a stream.
  const { message = null, code = null, param = null } = failed;
  return { status, body: { error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param, code } } };
}

function statusOf(word: unknown): number | undefined {
  if (typeof word === 'number') return Number.isInteger(word) && word >= 400 && word < 600 ? word : undefined;
  if (typeof word !== 'string') return undefined;
  return STATUSES.get(word) ?? (/^[45]\d\d$/.test(word) ? Number(word) : undefined);
}
