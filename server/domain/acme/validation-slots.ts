import { processState } from '#server/kernel/process-state.ts';

// Looking at a challenge waits for servers of strangers, who may take their time on purpose. Of the few jobs that a worker runs at once, only some wait for
// them, and fewer for those of one workspace.

const MOST = 3;
const MOST_OF_ONE = 2;

const running = processState('acme-validations', () => new Map<string, number>());

/** Takes a place for one look; what it returns gives the place back. Null when there is none. */
export function takeSlot(tenantId: string): (() => void) | null {
  const mine = running.get(tenantId) ?? 0;
  const all = [...running.values()].reduce((sum, n) => sum + n, 0);
  if (all >= MOST || mine >= MOST_OF_ONE) return null;
  running.set(tenantId, mine + 1);
  return () => {
    const left = (running.get(tenantId) ?? 1) - 1;
    if (left === 0) running.delete(tenantId);
    else running.set(tenantId, left);
  };
}
