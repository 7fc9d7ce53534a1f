import { processState } from '#server/kernel/process-state.ts';
import { type Health, healthOf, type UpstreamOutcome } from '#server/platform/http-out/health.ts';
import { log } from '#server/platform/log.ts';
import { type Refused, refused } from '../core/refusal.ts';
import { type Lru, lru } from '../credentials/lru.ts';
import type { CircuitRule } from '../snapshot/model.ts';
import type { RouteCall } from './route-call.ts';

// Circuit breakers of routes: an upstream that keeps failing is left alone for a while, and its callers needn't wait for it. Then one call tries it, whose
// success closes the circuit and whose failure opens it anew. Each gateway counts for itself, by route and environment.

type Circuit = {
  /** In a row. */
  failures: number;
  /** Epoch milliseconds; 0: closed. */
  openUntil: number;
  /** The call that tries the upstream, and until when no other does; null: none. */
  probe: { requestId: string; until: number } | null;
};

const MOST_CIRCUITS = 10_000;
const state = processState('route-circuits', (): Lru<Circuit> => lru(MOST_CIRCUITS));

/** Why a call isn't sent now. An undefined of a circuit that was open makes the call the one that tries. People who test a route always do. */
export function circuitRefusal(call: RouteCall, rule: CircuitRule): Refused | undefined {
  const circuit = state.get(rule.key);
  if (circuit === undefined || circuit.openUntil === 0 || call.test) return undefined;
  const now = call.receivedAt;
  const until = Math.max(circuit.openUntil, circuit.probe?.until ?? 0);
  if (until > now)
    return refused('circuit_open', 'The upstream keeps failing, so calls to it are paused. Try again later.', {
      retryAfter: Math.max(1, Math.ceil((until - now) / 1000)),
    });
  circuit.probe = { requestId: call.requestId, until: now + (call.state.config?.timeoutMs ?? 0) };
  return undefined;
}

/** Counts how a call ended. One that says nothing about its upstream only lets another call try it. */
export function noteOutcome(call: RouteCall, rule: CircuitRule): void {
  const health = callHealth(call);
  const known = state.get(rule.key);
  if (health === 'unknown') {
    if (known?.probe?.requestId === call.requestId) known.probe = null;
    return;
  }
  if (health === 'well') {
    if (known) state.delete(rule.key);
    return;
  }
  const circuit = known ?? { failures: 0, openUntil: 0, probe: null };
  if (!known) state.set(rule.key, circuit);
  circuit.probe = null;
  circuit.failures++;
  const now = Date.now();
  // Calls that were under way when it opened say nothing new.
  if (circuit.failures < rule.failures || circuit.openUntil > now) return;
  circuit.openUntil = now + rule.openMs;
  log.warn(
    { route_id: call.state.route?.id, cause: call.upstreamFault ?? call.upstreamStatus },
    'a circuit opened: calls of the route are refused',
  );
}

const callHealth = (call: RouteCall): Health => healthOf(outcomeOf(call), (status) => status === 502 || status === 503 || status === 504);

/** An answer that we refused to pass on has no status here. */
function outcomeOf({ upstreamFault, upstreamStatus: status }: RouteCall): UpstreamOutcome {
  if (upstreamFault !== null) return { kind: 'fault', type: upstreamFault };
  return status === 0 ? { kind: 'unsent' } : { kind: 'answered', status };
}
