import { processState } from '#server/kernel/process-state.ts';
import { networkOf } from '../core/client-address.ts';

/** Failed authentications of one network a minute; then it waits, before anything is looked up for it (interface rule 51 §3, row 3). */
const MOST = 300;
const WINDOW_MS = 60_000;
const MOST_NETWORKS = 50_000;

const state = processState('ai-failed-authentications', () => ({ window: 0, failures: new Map<string, number>() }));

function current(now: number): Map<string, number> {
  const window = Math.floor(now / WINDOW_MS);
  if (window !== state.window) {
    state.window = window;
    state.failures = new Map();
  }
  return state.failures;
}

/** Whole seconds until a network may try again; 0 when it may now. */
export function floodWait(address: string, now: number): number {
  const failures = current(now);
  if (failures.size === 0 || (failures.get(networkOf(address)) ?? 0) < MOST) return 0;
  return Math.max(1, Math.ceil((WINDOW_MS - (now % WINDOW_MS)) / 1000));
}

export function countFailure(address: string, now: number): void {
  const failures = current(now);
  const network = networkOf(address);
  const known = failures.get(network);
  if (known === undefined && failures.size >= MOST_NETWORKS) return;
  failures.set(network, (known ?? 0) + 1);
}
