import { processState } from '#server/kernel/process-state.ts';
import { type Lru, lru } from '../../credentials/lru.ts';
import type { AiCall } from '../ai-call.ts';
import type { Candidate } from './candidates.ts';

// Several keys of one provider (interface rule 50 §14.12): calls take turns over them, and one that the provider refuses or throttles rests for a while. Each
// gateway keeps this to itself: what it forgets is found out by one call.

const MOST_KEYS = 20_000;
const state = processState('ai-provider-keys', (): { rests: Lru<number>; turns: Lru<number> } => ({
  rests: lru(MOST_KEYS),
  turns: lru(MOST_KEYS),
}));

/** How long a key rests that the provider refused. */
const REFUSED_MS = 10 * 60_000;
const THROTTLED_MS = 60_000;
const LONGEST_REST_MS = 10 * 60_000;

/** The keys of the agent, for its own route; empty: the route's own secret is sent. */
const keysOf = ({ state: { agent, backup } }: AiCall, { route }: Candidate): readonly string[] =>
  agent && backup === null && agent.primary_route_id === route.id ? agent.upstream_secret_ids : [];

/** Whose turn it is; null where the route's own secret is sent. With all at rest it is the one that is back first. */
export function nextKey(call: AiCall, candidate: Candidate): string | null {
  const keys = keysOf(call, candidate);
  if (keys.length === 0) return null;
  const now = Date.now();
  const turn = state.turns.get(placeOf(call, '')) ?? 0;
  state.turns.set(placeOf(call, ''), (turn + 1) % 1_000_000);
  const inTurn = keys.map((_, i) => keys[(turn + i) % keys.length] as string);
  const rested = (key: string) => state.rests.get(placeOf(call, key)) ?? 0;
  return inTurn.find((key) => rested(key) <= now) ?? ([...inTurn].sort((a, b) => rested(a) - rested(b))[0] as string);
}

/** Whether the same request can go out again with another key, after the provider answered with this status. Lets the key rest that was used. */
export function takesAnotherKey(call: AiCall, candidate: Candidate, status: number, retryAfterMs: number | null): boolean {
  const used = call.state.providerKey;
  if (used === null || (status !== 401 && status !== 403 && status !== 429)) return false;
  restKey(call, used, status === 429 ? Math.min(retryAfterMs ?? THROTTLED_MS, LONGEST_REST_MS) : REFUSED_MS);
  return hasRested(call, candidate);
}

/** Whether some key of the agent is fit to be sent. */
export function hasRested(call: AiCall, candidate: Candidate): boolean {
  const now = Date.now();
  return keysOf(call, candidate).some((key) => (state.rests.get(placeOf(call, key)) ?? 0) <= now);
}

export const restKey = (call: AiCall, key: string, ms = THROTTLED_MS): void => state.rests.set(placeOf(call, key), Date.now() + ms);

const placeOf = ({ snapshot, state: { agent } }: AiCall, key: string): string =>
  `${snapshot.tenant.id}:${snapshot.sandbox}:${agent?.id}:${key}`;
