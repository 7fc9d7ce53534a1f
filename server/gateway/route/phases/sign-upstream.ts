import type { PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { RouteCall } from '../route-call.ts';
import { showSent } from '../test-requests/show-sent.ts';
import { sign } from '../upstream-auth/sign.ts';

/**
 * The end of step 11: what the upstream itself asks for (interface rule 30 §12), over headers, target and body as they will be sent. Whatever changes
 * any of them comes before.
 */
export function signUpstream(call: RouteCall, runtime: Runtime): PhaseResult | Promise<PhaseResult> {
  const { config, resolution, test } = call.state;
  call.state.resolution = null;
  const signed = config?.upstreamAuth && resolution ? sign(call, runtime, config.upstreamAuth, resolution) : undefined;
  if (signed instanceof Promise) return signed.then((refusal) => refusal ?? (test ? showSent(call, test, runtime) : undefined));
  return signed ?? (test ? showSent(call, test, runtime) : undefined);
}
