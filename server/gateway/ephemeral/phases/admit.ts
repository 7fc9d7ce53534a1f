import { subjectsOf } from '../../core/call.ts';
import { deniedByPolicy } from '../../core/denied-by-policy.ts';
import { limitFailures, limitWorkspaceRate } from '../../core/limits.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/** Steps 1 to 3: a good credential of this space, an active subscription, proxy:invoke, and the workspace's rate. */
export function admit(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { credential, snapshot } = call;
  const { tenant, sandbox } = snapshot;
  if (credential.caller === null)
    return limitFailures(call, runtime) ?? credential.fault ?? refused('invalid_api_key', 'Invalid credential.');
  const { caller } = credential;
  const word = caller.kind === 'oauth_client' ? 'token' : 'key';
  if (credential.state === 'wrong_space')
    return refused('wrong_key_type', sandbox ? `A Live ${word} can't call the Test host.` : `A Test ${word} can't call the Live host.`);
  call.admitted = true;
  if (!tenant.servable) return refused('subscription_inactive', "This workspace's subscription is not active.");
  if (!caller.mayInvoke) return refused('forbidden', "This credential can't call upstreams: it lacks the capability proxy:invoke.");
  const policy = snapshot.policyDenying(subjectsOf(call), null);
  if (policy) return deniedByPolicy(call, policy, 'proxy:invoke');
  if (caller.allows && !caller.allows(call.sourceAddress)) return refused('forbidden', `This ${word} can't be used from this IP address.`);
  return limitWorkspaceRate(call, runtime);
}
