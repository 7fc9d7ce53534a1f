import { type Refused, refused } from '../../core/refusal.ts';
import type { RouteCall } from '../route-call.ts';

/** Step 8: the environment's address list and methods. */
export function restrict(call: RouteCall): Refused | undefined {
  const { environment, test } = call.state;
  if (!environment) return undefined;
  const inside = !environment.allows || environment.allows(call.sourceAddress);
  if (test) test.checks.ip_allowlist = { required: environment.allows !== null, met: inside };
  else if (!inside) return refused('ip_not_allowed', "This IP address is not on the route's allowlist.");
  if (environment.methods && !environment.methods.has(call.method))
    return refused('method_not_allowed', `This route doesn't accept ${call.method} requests.`, { allow: environment.allow });
  return undefined;
}
