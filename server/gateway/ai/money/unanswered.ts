import { estimatedUsage, type Sent } from '#server/ai/usage/usage.ts';
import type { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { charge } from './record.ts';
import { sentTo } from './sent.ts';

type Unanswered = {
  readonly provider: string;
  readonly model: string;
  readonly attempt: { readonly reached: boolean; readonly received: number };
  /** Why there is no answer; absent for a caller who went away. */
  readonly fault?: UpstreamFault;
  readonly sent?: Sent;
};

/**
 * Charges an attempt that ended without a whole answer: the provider may have counted what it was sent and what it had answered, so that is estimated
 * (interface rule 51 §9.5). One that didn't reach the provider, or which it says it did nothing with, costs nothing.
 */
export function chargeUnanswered(call: AiCall, { provider, model, attempt, fault, sent = sentTo(call) }: Unanswered): void {
  const { operation, storedId } = detectedOf(call);
  if (!attempt.reached || fault?.unprocessed === true || fault?.phase === 'connect') return;
  if (operation === 'count_tokens' || storedId !== undefined) return;
  charge(call, provider, model, estimatedUsage(sent, attempt.received));
}
