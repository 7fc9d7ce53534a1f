import type { Call } from '../../core/call.ts';
import { type Refused, refused } from '../../core/refusal.ts';

/** Step 8: the environment's address list and methods. */
export function restrict(call: Call): Refused | undefined {
  const environment = call.environment;
  if (!environment) return undefined;
  const inside = !environment.allows || environment.allows(call.sourceAddress);
  if (call.trial) call.trial.checks.ip_allowlist = { required: environment.allows !== null, met: inside };
  else if (!inside) return refused('ip_not_allowed', "This IP address is not on the route's allowlist.");
  if (environment.methods && !environment.methods.has(call.method))
    return refused('method_not_allowed', `This route doesn't accept ${call.method} requests.`, { allow: environment.allow });
  return undefined;
}
