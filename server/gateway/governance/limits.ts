import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { enterWorkspace, limitMonthAnd, limitWorkspaceRate } from '../core/limits.ts';
import type { Runtime } from '../core/runtime.ts';
import { type AiRefused, aiRefusal, asAiRefusal } from './envelope.ts';
import type { GovernedCall } from './governed-call.ts';

// Step 2 of both AI planes (interface rule 51 §5.9): fixed windows of a minute for token and agent, the workspace's bucket and month, which it shares with
// its routes, and how many calls run at once.

const WINDOW_SEC = 60;
const TOKEN_RPM = 600;

export type AgentLimits = { id: string; rpm: number | null; tpm: number | null; concurrency: number | null };
type Result = AiRefused | undefined | Promise<AiRefused | undefined>;

/** Refuses, or counts the call. A counter store that is away limits nothing; what costs money is guarded by the ledger, which does. */
export function limitCall(call: GovernedCall, runtime: Runtime, agent: AgentLimits | null): Result {
  const { principal } = call.state;
  if (!principal) return aiRefusal('missing_auth', 'The call was not authenticated.');
  const { token } = principal;
  const counted = Promise.all([
    count(call, `ai:t:${token.id}`, token.scope.rpm ?? TOKEN_RPM, 'token'),
    agent?.rpm == null ? undefined : count(call, `ai:a:${agent.id}`, agent.rpm, 'agent'),
    agent?.tpm == null ? undefined : tokensLeft(call, agent.id, agent.tpm),
  ]);
  return counted.then(([byToken, byAgent, byTokens]) => {
    const refusal = byToken ?? byAgent ?? byTokens;
    if (refusal) return refusal;
    return next(limitWorkspaceRate(call, runtime), () =>
      next(
        limitMonthAnd(call, runtime, [], () => undefined),
        () => enter(call, runtime, agent),
      ),
    );
  });
}

type CoreResult = ReturnType<typeof limitWorkspaceRate>;
function next(first: CoreResult, then: () => Result): Result {
  if (first instanceof Promise) return first.then((refusal) => (refusal ? asAiRefusal(refusal) : then()));
  return first ? asAiRefusal(first) : then();
}

/** One more in the window of this minute. The narrower of the two is shown as the call's limit. */
async function count(call: GovernedCall, key: string, limit: number, subject: 'token' | 'agent'): Promise<AiRefused | undefined> {
  const { receivedAt: now } = call;
  const window = Math.floor(now / 1000 / WINDOW_SEC);
  const n = await windowCounter()(key, window, WINDOW_SEC, limit + 1).catch(away);
  if (n === undefined) return undefined;
  const resetAt = (window + 1) * WINDOW_SEC * 1000;
  const remaining = Math.max(0, limit - n);
  const admitted = n <= limit;
  const retryAfter = admitted ? 0 : Math.max(1, Math.ceil((resetAt - now) / 1000));
  const shown = call.routeVerdict;
  if (!admitted || shown === null || remaining < shown.remaining) call.routeVerdict = { admitted, limit, remaining, resetAt, retryAfter };
  if (admitted) return undefined;
  return aiRefusal('rate_limited', `Rate limit of this ${subject} exceeded: ${limit} calls per minute.`, {
    retryAfter,
    extra: { limit: subject },
  });
}

const tokensKey = (agentId: string) => `ai:n:${agentId}`;

/** Tokens are only known when a call is over: the call after the one that filled the window is refused. */
async function tokensLeft({ receivedAt: now }: GovernedCall, agentId: string, limit: number): Promise<AiRefused | undefined> {
  const window = Math.floor(now / 1000 / WINDOW_SEC);
  const n = await windowCounter()(tokensKey(agentId), window, WINDOW_SEC, undefined, 0).catch(away);
  if (n === undefined || n < limit) return undefined;
  return aiRefusal('rate_limited', `Rate limit of this agent exceeded: ${limit} tokens per minute.`, {
    retryAfter: Math.max(1, Math.ceil(((window + 1) * WINDOW_SEC * 1000 - now) / 1000)),
    extra: { limit: 'agent' },
  });
}

/** Counts what a call used against the tokens a minute of its agent. Never rejects, and nobody waits for it. */
export function countTokens(agentId: string, tokens: number, now: number): void {
  if (tokens <= 0) return;
  void windowCounter()(tokensKey(agentId), Math.floor(now / 1000 / WINDOW_SEC), WINDOW_SEC, undefined, tokens).catch(away);
}

const state = processState('ai-limits', () => ({ parallel: new Map<string, number>() }));

function away(error: unknown): undefined {
  log.warn({ err: error }, 'the counter store is unavailable; the rate of AI calls is not limited');
  return undefined;
}

function enter(call: GovernedCall, runtime: Runtime, agent: AgentLimits | null): AiRefused | undefined {
  const crowded = enterWorkspace(call, runtime);
  if (crowded) return asAiRefusal(crowded);
  if (agent?.concurrency == null) return undefined;
  const running = state.parallel.get(agent.id) ?? 0;
  if (running >= agent.concurrency)
    return aiRefusal('concurrency_limited', `This agent runs ${agent.concurrency} calls at once, and no more.`);
  state.parallel.set(agent.id, running + 1);
  call.state.parallelOf = agent.id;
  return undefined;
}

/** Gives back the place among the agent's parallel calls. Called once a call, when it is over. */
export function leaveAgent({ state: { parallelOf } }: GovernedCall): void {
  if (parallelOf === null) return;
  const running = (state.parallel.get(parallelOf) ?? 1) - 1;
  if (running > 0) state.parallel.set(parallelOf, running);
  else state.parallel.delete(parallelOf);
}
