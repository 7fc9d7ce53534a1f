import { enterWorkspace, limitMonthAnd } from '../../core/limits.ts';
import type { Refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/** The rest of step 3: a place among the calls under way, and the plan's calls of the month. */
export function limit(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  return enterWorkspace(call, runtime) ?? limitMonthAnd(call, runtime, [], () => undefined);
}
