import type { Refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { RouteCall } from '../route-call.ts';
import { judgeSignature } from '../signatures/verify.ts';

/** Step 9: the signature of a call, where the route requires one. A call that only its signature could admit was judged at its admission. */
export function verifySignature(call: RouteCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { config, signatureValid, test } = call.state;
  if (!config?.signature || signatureValid) return undefined;
  if (test) {
    test.checks.require_signature = { required: true, scheme: config.signature.scheme };
    return undefined;
  }
  return judgeSignature(call, runtime, config.signature, (bytes) => runtime.bodies.hold(call, bytes));
}
