import type { JsonObject } from '../json.ts';
import { errorMessage } from '../providers/serve.ts';
import type { ClientShape } from './shapes.ts';

/** An error of a provider in the shape of the caller, with its status: Anthropic's 529 (overloaded) is nobody else's. */
export function translatedError(to: ClientShape, status: number, answer: unknown): { status: number; body: JsonObject } {
  const message = errorMessage(answer) ?? 'The provider answered with an error.';
  const type = errorType(status);
  if (to === 'anthropic') return { status: status === 529 ? 529 : status, body: { type: 'error', error: { type, message } } };
  return { status: status === 529 ? 503 : status, body: { error: { message, type, param: null, code: null } } };
}

function errorType(status: number): string {
  if (status === 404) return 'not_found_error';
  if (status === 413) return 'request_too_large';
  if (status === 429) return 'rate_limit_error';
  if (status === 529 || status === 503) return 'overloaded_error';
  return status < 500 ? 'invalid_request_error' : 'api_error';
}
