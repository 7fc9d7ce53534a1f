import { ANSWERED, type PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { answer } from '../answer/answer.ts';
import { answerFromCache, answerFromNeighbours } from '../answer/cached.ts';
import { countsHere, countTokens } from '../answer/count-tokens.ts';
import { ASK_AGAIN } from '../answer/judge.ts';
import { listModels } from '../answer/models.ts';
import { reserveBudget } from '../money/budget.ts';
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
    let found = await ask(call, runtime, caller);
    if (caller.gone && !caller.late) {
      call.error = 'client_closed';
      call.status = 0;
      return ANSWERED;
    }
    if (caller.late && !call.res.headersSent) return aiRefusal('upstream_timeout', 'The call took longer than 15 minutes.');
    if (!('attempt' in found)) return found;
    let verdict = await answer(call, runtime, caller, found);
    if (verdict === ASK_AGAIN) {
      found = await ask(call, runtime, caller);
      if (!('attempt' in found)) return found;
      verdict = await answer(call, runtime, caller, found);
    }
    if (verdict === ASK_AGAIN) return aiRefusal('internal_error', 'Something went wrong on our side.');
    return verdict ?? ANSWERED;
  } finally {
    caller.release();
  }
}
