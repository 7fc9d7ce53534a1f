import { processState } from '#server/kernel/process-state.ts';
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
  /** Until when another call tries the upstream. */
  triedUntil: number;
};

const MOST_CIRCUITS = 10_000;
const state = processState('route-circuits', (): Lru<Circuit> => lru(MOST_CIRCUITS));

/** Why a call isn't sent now. An undefined of a circuit that was open makes the call the one that tries. People who test a route always do. */
export function circuitRefusal(call: RouteCall, rule: CircuitRule): Refused | undefined {
  const circuit = state.get(rule.key);
  if (circuit === undefined || circuit.openUntil === 0 || call.test) return undefined;
  const now = call.receivedAt;
  const until = Math.max(circuit.openUntil, circuit.triedUntil);
  if (until > now)
    return refused('circuit_open', 'The upstream keeps failing, so calls to it are paused. Try again later.', {
      retryAfter: Math.max(1, Math.ceil((until - now) / 1000)),
    });
  circuit.triedUntil = now + (call.state.config?.timeoutMs ?? 0);
  return undefined;
}

/** Counts how a call ended, if its upstream was asked. */
export function noteOutcome(call: RouteCall, rule: CircuitRule): void {
  if (call.attempts === 0) return;
  const failed = hasFailed(call);
  const known = state.get(rule.key);
  if (failed === false) {
    if (known) state.delete(rule.key);
    return;
  }
  const circuit = known ?? { failures: 0, openUntil: 0, triedUntil: 0 };
  if (!known) state.set(rule.key, circuit);
  circuit.triedUntil = 0;
  if (failed === undefined) return;
  circuit.failures++;
  const now = Date.now();
  // Calls that were under way when it opened say nothing new.
  if (circuit.failures < rule.failures || circuit.openUntil > now) return;
  circuit.openUntil = now + rule.openMs;
  log.warn(
    { route_id: call.state.route?.id, cause: call.error ?? call.upstreamStatus },
    'a circuit opened: calls of the route are refused',
  );
}

const UNREACHED = new Set(['upstream_unreachable', 'upstream_tls_error', 'upstream_protocol_error', 'upstream_timeout']);

/** Undefined: nothing can be said, as when the caller went away. */
function hasFailed({ refusal, upstreamStatus: status }: RouteCall): boolean | undefined {
  if (refusal && UNREACHED.has(refusal.code)) return true;
  return status === 0 ? undefined : status === 502 || status === 503 || status === 504;
}
