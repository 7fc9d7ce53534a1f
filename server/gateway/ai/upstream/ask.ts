import { isObject, parsedJson } from '#server/ai/json.ts';
import { refusedFallback } from '#server/ai/models/policy.ts';
import { dropRefusedOption } from '#server/ai/providers/serve.ts';
import { delayBefore, MOST_WAITING_MS, type RoutingPolicy } from '#server/ai/routing-policy.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { poolOf, scrubbedFor } from '../../core/exchange-parts.ts';
import type { Runtime } from '../../core/runtime.ts';
import { upstreamHeaders } from '../../core/upstream-headers.ts';
import { fieldOf } from '../../core/upstream-response.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import type { Resolution } from '../../templates/resolution.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { judgeUnpriced } from '../money/budget.ts';
import { chargeUnanswered } from '../money/unanswered.ts';
import { modelPolicy } from '../phases/choose-model.ts';
import { AnswerTooLarge, Attempt } from './attempt.ts';
import type { CallerGone } from './caller.ts';
import { type Candidate, candidatesOf, homeProvider, inOrder } from './candidates.ts';
import { circuitAdmits, noteAttempt, openUntil } from './circuits.ts';
import { refusalOfFault } from './fault.ts';
import { type Outgoing, outgoingFor } from './outgoing.ts';
import { prepare } from './prepare.ts';
import { takesAnotherKey } from './provider-keys.ts';
import { readAnswer, type WholeAnswer } from './read-answer.ts';

const STREAM_IDLE_MS = 120_000;
/** Of an answer that is only looked at to decide whether to ask again. */
const ASKED_AGAIN = new Set([401, 403]);

/** A provider that answered, well or not. */
export type Answered = {
  readonly attempt: Attempt;
  readonly outgoing: Outgoing;
  readonly candidate: Candidate;
  readonly resolution: Resolution;
  /** Null for a stream and for an error. */
  readonly whole: WholeAnswer | null;
};

/**
 * Step 16: asks the candidates in their order, each as often as the routing policy says (interface rule 51 §7.1). The answer's body hasn't been read. What the
 * last of them answered is the answer when none was better; without any, the last refusal.
 */
export async function ask(call: AiCall, runtime: Runtime, caller: CallerGone): Promise<Answered | AiRefused> {
  const { agent, model, principal } = call.state;
  // A token that is narrowed to some providers reaches no other by a fallback.
  const providers = principal?.token.scope.providers;
  const open = candidatesOf(call).filter(({ provider }) => !providers || providers.includes(provider));
  const candidates = inOrder(open, agent?.routing.route_weights ?? {});
  if (!agent || candidates.length === 0)
    return aiRefusal('upstream_not_configured', 'This agent has no route to a provider that is enabled.');
  const home = homeProvider(call);
  const own = call.body;
  const { operation, storedId } = detectedOf(call);
  const costs = model !== null && operation !== 'count_tokens' && storedId === undefined;
  let last: Answered | AiRefused | undefined;
  let waited = 0;
  let triedAt = Number.POSITIVE_INFINITY;
  for (const [i, candidate] of candidates.entries()) {
    const wanted = modelFor(call, candidate, home);
    if (wanted === null || (wanted !== undefined && !mayCall(call, wanted, candidate))) continue;
    const outgoing = outgoingFor(call, { provider: candidate.provider, model: wanted ?? model?.final ?? '', own });
    if ('refuse' in outgoing) {
      const option = 'option' in outgoing && outgoing.option !== undefined ? { extra: { option: outgoing.option } } : {};
      last ??= aiRefusal(outgoing.refuse, outgoing.description, option);
      continue;
    }
    const unpriced = costs ? judgeUnpriced(call, candidate.provider, outgoing.model) : undefined;
    if (unpriced) {
      last ??= unpriced;
      continue;
    }
    if (!circuitAdmits(call, candidate)) {
      triedAt = Math.min(triedAt, openUntil(call, candidate) ?? triedAt);
      continue;
    }
    if (i > 0) call.state.fallback ??= 'route';
    for (let n = 1; ; n++) {
      discard(last);
      let found = await once(call, runtime, caller, candidate, outgoing, agent.routing);
      // Each key rests after its refusal, so this ends.
      while ('attempt' in found && takesAnotherKey(call, candidate, found.attempt.status, retryAfterMs(found.attempt))) {
        discard(found);
        found = await once(call, runtime, caller, candidate, outgoing, agent.routing);
        if (caller.gone) return found;
      }
      const fitted = await withoutRefusedOption(found);
      if (fitted) {
        discard(found);
        found = await once(call, runtime, caller, candidate, fitted, agent.routing);
      }
      if (caller.gone) return found;
      last = found;
      const retryAfter = 'attempt' in found ? retryAfterMs(found.attempt) : null;
      const delay =
        n < agent.routing.max_attempts && isRetried(found, agent.routing) ? delayBefore(agent.routing, n + 1, retryAfter, random()) : null;
      if (delay === null || waited + delay > MOST_WAITING_MS) break;
      waited += delay;
      await caller.pause(delay);
      if (caller.gone) return found;
    }
    if (!failsOver(last, agent.routing)) return last;
  }
  if (last === undefined && triedAt < Number.POSITIVE_INFINITY)
    return aiRefusal('upstream_error', 'Every route of this agent failed too often lately and is left out for a while.', {
      retryAfter: Math.max(1, Math.ceil((triedAt - Date.now()) / 1000)),
    });
  return last ?? aiRefusal('upstream_not_configured', 'No route of this agent can serve the model that was asked for.');
}

/** The request without an option that the provider refuses by name and a call does without; null when that isn't what it refused. */
async function withoutRefusedOption(found: Answered | AiRefused): Promise<Outgoing | null> {
  if (!('attempt' in found) || found.attempt.status !== 422 || found.candidate.provider !== 'mistral') return null;
  const { outgoing, attempt, candidate } = found;
  const body = outgoing.body === null ? undefined : parsedJson(outgoing.body.toString('utf8'));
  if (!isObject(body) || body.stream_options === undefined) return null;
  try {
    const told = await attempt.peek(LARGEST_REFUSAL, () => true);
    return dropRefusedOption(candidate.provider, attempt.status, told.toString('utf8'), body)
      ? { ...outgoing, body: Buffer.from(JSON.stringify(body)) }
      : null;
  } catch (error) {
    if (error instanceof UpstreamFault || error instanceof AnswerTooLarge) return null;
    throw error;
  }
}

const LARGEST_REFUSAL = 64 * 1024;

const random = () => randomBuffer(4).readUInt32BE() / 2 ** 32;

/** What was answered before is not read any more when another answer is asked for. */
function discard(last: Answered | AiRefused | undefined): void {
  if (last !== undefined && 'attempt' in last) last.attempt.abort();
}

/**
 * The model at a candidate: undefined for the call's own, null when none is known there. Another provider has other models: `provider:model` of the agent's
 * rewrites says which, or else the default model of the agent that the route was composed for (interface rule 51 §7.1).
 */
function modelFor(call: AiCall, { provider, defaultModel }: Candidate, home: string): string | null | undefined {
  const { agent, model } = call.state;
  if (provider === home || model === null || detectedOf(call).storedId !== undefined) return undefined;
  return agent?.rewrites.get(`${provider}:${model.final}`) ?? defaultModel;
}

/** Whether the agent's denylist and the token allow the model that stands for the call's own at another provider. */
function mayCall(call: AiCall, model: string, { provider }: Candidate): boolean {
  return refusedFallback({ ...modelPolicy(call), allow: ANY }, [model], provider) === undefined;
}

const ANY: ReadonlySet<string> = new Set();

async function once(
  call: AiCall,
  runtime: Runtime,
  caller: CallerGone,
  candidate: Candidate,
  outgoing: Outgoing,
  routing: RoutingPolicy,
): Promise<Answered | AiRefused> {
  const resolution = await prepare(call, runtime, candidate, outgoing);
  if ('code' in resolution) {
    noteAttempt(call, candidate, { kind: 'unsent' });
    return resolution;
  }
  const target = call.upstream;
  if (target === null) return aiRefusal('internal_error', 'The call has no target.');
  call.state.provider = candidate.provider;
  call.state.sentModel = outgoing.model || null;
  call.attempts++;
  let counted = false;
  const noteBroken = ({ type }: UpstreamFault) => noteAttempt(call, candidate, { kind: 'fault', type }, { counted });
  const attempt = new Attempt(target.host, routing.attempt_timeout_ms, STREAM_IDLE_MS, (fault) => counted && noteBroken(fault));
  caller.aborts(attempt);
  const began = performance.now();
  try {
    const request = {
      path: call.upstreamPath,
      method: call.method,
      headers: upstreamHeaders(call, runtime.privateHeaders),
      body: call.body,
    };
    await attempt.send(poolOf(call, runtime, target), request, (next, sent) => scrubbedFor(call, runtime, next, sent));
    const whole = await readAnswer(call, runtime, attempt, outgoing);
    call.upstreamStatus = attempt.status;
    noteAttempt(call, candidate, { kind: 'answered', status: attempt.status });
    counted = true;
    if (attempt.broken) noteBroken(attempt.broken);
    return { attempt, outgoing, candidate, resolution, whole };
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    noteAttempt(call, candidate, caller.gone ? { kind: 'unsent' } : { kind: 'fault', type: error.type });
    chargeUnanswered(call, { provider: candidate.provider, model: outgoing.model, attempt, fault: error });
    attempt.abort();
    if (attempt.status === 0) return refusalOfFault(error);
    call.upstreamStatus = attempt.status;
    return { ...refusalOfFault(error), upstreamStatus: attempt.status };
  } finally {
    call.upstreamMs = Math.max(0, call.upstreamMs) + Math.round(performance.now() - began);
  }
}

const isServerFault = (status: number): boolean => status >= 500;

/** Whether the same candidate is asked again. */
function isRetried(found: Answered | AiRefused, { retry_on }: RoutingPolicy): boolean {
  if (!('attempt' in found)) {
    if (found.code === 'upstream_timeout') return retry_on.includes('timeout');
    const invalid = found.cause instanceof UpstreamFault && found.cause.type === 'upstream_protocol_error';
    return (invalid || found.code === 'upstream_unreachable') && retry_on.includes('5xx');
  }
  const { status } = found.attempt;
  return (status === 429 && retry_on.includes('429')) || (isServerFault(status) && retry_on.includes('5xx'));
}

/** Whether the next candidate is asked. */
function failsOver(found: Answered | AiRefused, { retry_on }: RoutingPolicy): boolean {
  if (!('attempt' in found)) return found.code !== 'internal_error';
  const { status } = found.attempt;
  return isServerFault(status) || ASKED_AGAIN.has(status) || (status === 429 && retry_on.includes('429'));
}

/** What an upstream asks for, in seconds or as a date; null when it asks for nothing that makes sense. */
function retryAfterMs({ headers }: Attempt): number | null {
  const value = fieldOf(headers, 'retry-after');
  if (value === undefined) return null;
  const ms = /^\d{1,6}(?:\.\d+)?$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
