import type { PhaseResult } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { presentCertificates } from '../../upstream-auth/certificates.ts';
import { sign } from '../../upstream-auth/sign.ts';
import type { RouteCall } from '../route-call.ts';
import { showSent } from '../test-requests/show-sent.ts';

/**
 * The end of step 11: what the upstream itself asks for (interface rule 30 §12), over headers, target and body as they will be sent. Whatever changes
 * any of them comes before.
 */
export function signUpstream(call: RouteCall, runtime: Runtime): PhaseResult | Promise<PhaseResult> {
  const tls = call.state.config?.tls;
  const refusal = tls ? presentCertificates(call, runtime, tls) : undefined;
  if (refusal instanceof Promise) return refusal.then((one) => one ?? signed(call, runtime));
  return refusal ?? signed(call, runtime);
}

function signed(call: RouteCall, runtime: Runtime): PhaseResult | Promise<PhaseResult> {
  const { config, resolution, test } = call.state;
  call.state.resolution = null;
  const refusal = config?.upstreamAuth && resolution ? sign(call, runtime, config.upstreamAuth, resolution) : undefined;
  if (refusal instanceof Promise) return refusal.then((one) => one ?? (test ? showSent(call, test, runtime) : undefined));
  return refusal ?? (test ? showSent(call, test, runtime) : undefined);
}
