import type { ScimCaller } from '#server/api/credentials/scim.ts';
import { ScimProblem } from './problem.ts';

/**
 * Whether the plan lets directories provision: an Enterprise plan, also one that lapsed or is past due. Its deliberate end is the end of SCIM
 * (interface rules 20 §5, 23 §3).
 */
export function assertPlan({ plan, enterprise_ended_by }: Pick<ScimCaller, 'plan' | 'enterprise_ended_by'>): void {
  if (plan === 'enterprise' && enterprise_ended_by === null) return;
  throw new ScimProblem(403, "This workspace's plan doesn't include SCIM provisioning. It takes the Enterprise plan.", {
    error: 'scim_plan_required',
  });
}
