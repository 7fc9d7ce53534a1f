import { ANSWERED, type PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { answer } from '../answer/answer.ts';
import { answerFromCache, answerFromNeighbours } from '../answer/cached.ts';
import { countsHere, countTokens } from '../answer/count-tokens.ts';
import { ASK_AGAIN } from '../answer/judge.ts';
import { listModels } from '../answer/models.ts';
import { reserveBudget } from '../money/budget.ts';
import { chargeUnanswered } from '../money/unanswered.ts';
import { ask } from '../upstream/ask.ts';
import { CallerGone } from '../upstream/caller.ts';

/** Steps 13 to 17: the cache, the budget, the provider, and its answer. What was reserved is settled when the call is over, whatever happens here. */
export async function serve(call: AiCall, runtime: Runtime): Promise<PhaseResult> {
  if (detectedOf(call).shape === 'models') return listModels(call);
  if (countsHere(call)) return countTokens(call);
  call.res.holdEnd('spend');
  const caller = new CallerGone(call.res);
  try {
    const known = await answerFromCache(call);
    if (known) return known === 'sent' ? ANSWERED : known;
    const refusal = await reserveBudget(call);
    if (refusal) return refusal;
    const near = await answerFromNeighbours(call, runtime, caller);
    if (near) return near === 'sent' ? ANSWERED : near;
    let result = await provided(call, runtime, caller);
    if (result === ASK_AGAIN) result = await provided(call, runtime, caller);
    if (result === ASK_AGAIN) return aiRefusal('internal_error', 'Something went wrong on our side.');
    return result;
  } finally {
    caller.release();
  }
}

/** The answer of a provider, asked once. */
async function provided(call: AiCall, runtime: Runtime, caller: CallerGone): Promise<AiRefused | typeof ANSWERED | typeof ASK_AGAIN> {
  const found = await ask(call, runtime, caller);
  if (caller.gone && 'attempt' in found) {
    const { attempt, candidate, outgoing } = found;
    if (attempt.status < 300) chargeUnanswered(call, { provider: candidate.provider, model: outgoing.model, attempt });
  }
  if (caller.gone && !caller.late) {
    call.error = 'client_closed';
    call.status = 0;
    return ANSWERED;
  }
  if (caller.late) return aiRefusal('upstream_timeout', 'The call took longer than 15 minutes.');
  return 'attempt' in found ? ((await answer(call, runtime, caller, found)) ?? ANSWERED) : found;
}
