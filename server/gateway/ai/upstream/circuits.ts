import { isCircuitFailure, opensCircuit } from '#server/ai/routing-policy.ts';
import { processState } from '#server/kernel/process-state.ts';
import { healthOf, type UpstreamOutcome } from '#server/platform/http-out/health.ts';
import { log } from '#server/platform/log.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { type Lru, lru } from '../../credentials/lru.ts';
import type { AiCall } from '../ai-call.ts';
import type { Candidate } from './candidates.ts';

// Circuit breakers (interface rule 50 §14.1): a route that keeps failing is left out until its cooldown is over. Then one call tries it, whose success closes
// the circuit and whose failure opens it anew. Each gateway counts for itself; a circuit that one opened is a row, and holds at all of them.

type Circuit = {
  /** Of the minute that began here. */
  since: number;
  requests: number;
  failures: number;
  /** What this gateway decided, until the snapshot has it; null: closed here. */
  opened: { until: number; at: number; written: boolean } | null;
  /** The call that tries the route, and until when no other does; null: none. */
  probe: { requestId: string; until: number } | null;
};

const WINDOW_MS = 60_000;
const PROBE_MS = 30_000;
/** After this the snapshot has what was written, or somebody closed it. */
const ANNOUNCED_MS = 3_000;
const MOST_CIRCUITS = 10_000;
const state = processState('ai-circuits', (): Lru<Circuit> => lru(MOST_CIRCUITS));

/** Whether a call may use the route. A true of a half open circuit makes the call the one that tries it. */
export function circuitAdmits(call: AiCall, candidate: Candidate): boolean {
  const until = openUntil(call, candidate);
  if (until === null) return true;
  const now = Date.now();
  if (until > now) return false;
  const circuit = circuitOf(call, candidate);
  if ((circuit.probe?.until ?? 0) > now) return false;
  circuit.probe = { requestId: call.requestId, until: now + PROBE_MS };
  return true;
}

/** Epoch ms at which the route is tried again, also in the past; null for a closed circuit. */
export function openUntil(call: AiCall, candidate: Candidate): number | null {
  const { agent } = call.state;
  if (!agent?.routing.circuit) return null;
  const told = call.snapshot.aiCircuits.get(`${agent.id}:${candidate.route.id}`);
  const own = state.get(nameOf(call, candidate))?.opened ?? null;
  if (own === null) return told ?? null;
  // What was written here and is in no snapshot any more was closed by another gateway, or by a person.
  if (told === undefined && own.written && Date.now() - own.at > ANNOUNCED_MS) return null;
  return Math.max(told ?? 0, own.until);
}

/**
 * Counts how an attempt at a route ended. An answer is counted by its head; one that breaks off after a good head is one failure more. An outcome that says
 * nothing about the provider only lets another call try it.
 */
export function noteAttempt(call: AiCall, candidate: Candidate, outcome: UpstreamOutcome, { counted = false } = {}): void {
  const policy = call.state.agent?.routing.circuit;
  if (!policy) return;
  const health = healthOf(outcome, (status) => isCircuitFailure(policy, status));
  const circuit = circuitOf(call, candidate);
  if (health === 'unknown') {
    if (circuit.probe?.requestId === call.requestId) circuit.probe = null;
    return;
  }
  const now = Date.now();
  const wasOpen = openUntil(call, candidate);
  if (now - circuit.since > WINDOW_MS) Object.assign(circuit, { since: now, requests: 0, failures: 0 });
  if (!counted) circuit.requests++;
  circuit.probe = null;
  if (health === 'well') {
    if (wasOpen !== null && wasOpen <= now) close(call, candidate, circuit);
    return;
  }
  circuit.failures++;
  // Calls that were under way when it opened say nothing new.
  if (wasOpen !== null && wasOpen > now) return;
  if (wasOpen === null && !opensCircuit(policy, circuit)) return;
  open(call, candidate, circuit, policy.cooldown_ms, causeOf(outcome));
}

const causeOf = (outcome: UpstreamOutcome): string =>
  outcome.kind === 'fault' ? outcome.type : outcome.kind === 'answered' ? String(outcome.status) : outcome.kind;

function open(call: AiCall, candidate: Candidate, circuit: Circuit, cooldownMs: number, cause: string): void {
  const at = Date.now();
  const opened = { until: at + cooldownMs, at, written: false };
  circuit.opened = opened;
  const { requests, failures } = circuit;
  Object.assign(circuit, { since: at, requests: 0, failures: 0 });
  log.warn({ agent_id: call.state.agent?.id, route_id: candidate.route.id, cause }, 'a circuit opened: the route is left out');
  const values = [...placeOf(call, candidate), failures, requests, cause.slice(0, 64), new Date(at), new Date(opened.until)];
  inOwnTransaction(spaceOf(call), (client) => client.query(OPEN, values))
    .then(() => {
      opened.written = true;
      opened.at = Date.now();
    })
    .catch((error: unknown) => log.warn({ err: error }, 'an open circuit could not be written: it holds at this gateway only'));
}

function close(call: AiCall, candidate: Candidate, circuit: Circuit): void {
  // Until the snapshot has it: an end in the past, which is over.
  circuit.opened = null;
  Object.assign(circuit, { since: Date.now(), requests: 0, failures: 0 });
  inOwnTransaction(spaceOf(call), (client) => client.query(CLOSE, placeOf(call, candidate))).catch((error: unknown) =>
    log.warn({ err: error }, 'a circuit could not be closed in the database'),
  );
}

const placeOf = ({ snapshot, state: { agent } }: AiCall, { route }: Candidate) => [
  snapshot.tenant.id,
  snapshot.sandbox,
  agent?.id ?? null,
  route.id,
];

const spaceOf = ({ snapshot }: AiCall) => ({ tenant_id: snapshot.tenant.id, sandbox: snapshot.sandbox });

const OPEN = `insert into ai_circuits (tenant_id, sandbox, agent_id, route_id, failures, requests, cause, opened_at, open_until)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (tenant_id, sandbox, agent_id, route_id) do update set failures = excluded.failures, requests = excluded.requests, cause = excluded.cause,
    opened_at = excluded.opened_at, open_until = greatest(ai_circuits.open_until, excluded.open_until)`;
const CLOSE = 'delete from ai_circuits where tenant_id = $1 and sandbox = $2 and agent_id = $3 and route_id = $4 and open_until <= now()';

const nameOf = ({ snapshot, state: { agent } }: AiCall, { route }: Candidate): string =>
  `${snapshot.tenant.id}:${snapshot.sandbox}:${agent?.id}:${route.id}`;

function circuitOf(call: AiCall, candidate: Candidate): Circuit {
  const name = nameOf(call, candidate);
  const known = state.get(name);
  if (known) return known;
  const circuit: Circuit = { since: Date.now(), requests: 0, failures: 0, opened: null, probe: null };
  state.set(name, circuit);
  return circuit;
}
