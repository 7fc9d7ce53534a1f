import { effectiveLimit } from '#server/custody/plan-limits.ts';
import { takeFromMonth } from '#server/platform/monthly-meter.ts';
import type { Claimed } from './store.ts';

/** What the month of a workspace has left of its workflow operations (interface rule 62 §4.2). Runs of Test aren't metered (64 §4). */
export type Meter = {
  /** Whether this many more fit in; takes none. */
  covers(execution: Claimed, nodes: number): Promise<boolean>;
  /** Takes one. @returns false when none is left */
  take(execution: Claimed): Promise<boolean>;
};

const KIND = 'workflow_operations';

export const monthlyMeter = (clock: () => Date): Meter => ({
  async covers(execution, nodes) {
    if (execution.sandbox) return true;
    const taken = await take(execution, nodes, clock());
    if (taken.allowed) taken.giveBack();
    return taken.allowed;
  },
  take: async (execution) => execution.sandbox || (await take(execution, 1, clock())).allowed,
});

async function take({ tenant_id, sandbox, plan }: Claimed, n: number, now: Date) {
  const limit = await effectiveLimit({ tenant_id, sandbox, plan, now }, KIND);
  return takeFromMonth(tenant_id, KIND, n, limit, now);
}
