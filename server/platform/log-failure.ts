import { asRefusal } from '#server/kernel/errors.ts';
import { log } from './log.ts';

/**
 * Logs what a plane answers with 500 or more: a fault of ours each time, so that its request ID is found; anything else, such as a part that is away, once a
 * minute. A refusal without a cause (too much is in progress, a workspace is sealed) did its work: a warning without a stack.
 */
export function logFailure(error: unknown, request_id: string | undefined, message: string): void {
  const refusal = asRefusal(error);
  const { status, type, cause } = refusal;
  if (status < 500) return;
  if (type === 'internal_error') log.error({ err: cause ?? refusal, request_id }, message);
  else log[cause === undefined ? 'warn' : 'error']({ err: refusal, request_id }, message);
}
