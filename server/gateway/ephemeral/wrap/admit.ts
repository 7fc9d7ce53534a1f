import { subjectsOf } from '../../core/call.ts';
import { limitWorkspaceRate } from '../../core/limits.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/** The host that the address names must be the token's; then the workspace's standing and rate. */
export function admitToken(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { state, snapshot } = call;
  call.admitted = true;
  if (state.hostSegment !== null && state.hostSegment.toLowerCase() !== state.token?.host)
    return refused('host_not_allowed', 'This gateway token is for another host.');
  if (!snapshot.tenant.servable) return refused('subscription_inactive', "This workspace's subscription is not active.");
  const policy = snapshot.policyDenying(subjectsOf(call), null);
  if (policy) return refused('forbidden', `denied by tenant policy ${policy.name}`);
  return limitWorkspaceRate(call, runtime);
}
