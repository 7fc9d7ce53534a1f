import { admission } from '../../core/admission.ts';
import { subjectsOf } from '../../core/call.ts';
import { Capture } from '../../core/capture.ts';
import { deniedByPolicy } from '../../core/denied-by-policy.ts';
import { limitFailures, limitWorkspaceRate } from '../../core/limits.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { Caller } from '../../snapshot/model.ts';
import type { RouteCall } from '../route-call.ts';
import { CROWDED, judgeSignature, takeSignedBody } from '../signatures/verify.ts';

/** Step 7: the admission table, or the opaque 401; then what only the admitted may know; then the workspace's own limits. */
export function admit(call: RouteCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { snapshots } = runtime;
  if (!snapshots.fresh) return refused('dependency_unavailable', "The gateway can't confirm its configuration. Try again shortly.");
  const age = snapshots.ageMs(call.receivedAt);
  // A call says how old the picture was that it was served from (interface rule 12 §15).
  if (age > snapshots.overdueMs) call.warnings = [`unconfirmed:${Math.floor(age / 1000)}`];
  const { credential } = call;
  const { environment, test } = call.state;
  const { tenant } = call.snapshot;
  if (test) {
    // The route's requirements are shown, not enforced: the person's role admitted them, and they are no client of the route.
    const required = environment?.requiresClients ?? false;
    test.checks.requires_clients = { required, met: !required || call.client !== null, client: call.client?.client.name ?? null };
    call.client = null;
  }
  const strict = tenant.settings.proxy_require_credential;
  const result = admission(environment?.requiresClients ?? false, credential.state, call.client !== null, strict);
  if (result !== 'admitted' && !test) {
    if (result === 'authentication_required' && !strict && bringsSignature(call)) return admitBySignature(call, runtime);
    // Its signature may still show that the caller is an assigned client: the route doesn't forward it without.
    if (result !== 'client_not_authorized' || !call.state.config?.signature) return notAdmitted(call, runtime, result);
  }
  return afterAdmission(call, runtime);
}

/** What only the admitted may know, and the workspace's own limits. */
function afterAdmission(call: RouteCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { credential } = call;
  const { lookupFault, test } = call.state;
  const { tenant } = call.snapshot;
  call.admitted = true;
  const { caller } = credential;
  // What is not for this caller is answered as what was never there.
  if (caller?.routes && !(call.state.route && caller.routes.has(call.state.route.id)))
    return refused('route_not_found', 'No enabled route matches this slug.');
  if (lookupFault) return lookupFault;
  if (!tenant.servable) return refused('subscription_inactive', "This workspace's subscription is not active.");
  const payloads = call.state.config?.logPayloads ?? tenant.settings.log_payloads_default;
  if (payloads !== 'off' && call.state.config && !test?.dry) call.capture = new Capture(payloads, tenant.id, runtime.captures);
  if (!test && caller && !caller.mayInvoke)
    return refused('forbidden', "This credential can't call routes: it lacks the capability proxy:invoke.");
  const policy = call.snapshot.policyDenying(subjectsOf(call), call.state.route);
  if (policy) return deniedByPolicy(call, policy, 'proxy:invoke');
  if (test) return test.dry ? undefined : limitWorkspaceRate(call, runtime);
  if (caller?.allows && !caller.allows(call.sourceAddress))
    return refused('forbidden', `This ${wordFor(caller)} can't be used from this IP address.`);
  return limitWorkspaceRate(call, runtime);
}

const SIGNATURES = new Set(['x-svc-signature', 'x-signature', 'signature']);
const bringsSignature = ({ names }: RouteCall): boolean => names.some((name) => SIGNATURES.has(name));

/** Refusals that say nothing about the route: those of reading a body, and those that only who has the key gets to see. */
const TOLD = new Set<string>([
  'payload_too_large',
  'concurrency_limit_exceeded',
  'invalid_request',
  'signature_replayed',
  'dependency_unavailable',
]);

/**
 * A caller without a credential may be a client that only its signature shows (interface rule 12 §18). The body is read for routes that don't exist as
 * well: whoever fails must not learn from the answer, nor from when it comes, whether this one does.
 */
async function admitBySignature(call: RouteCall, runtime: Runtime): Promise<Refused | undefined> {
  const { config, environment, lookupFault } = call.state;
  const { id } = call.snapshot.tenant;
  let held = 0;
  const hold = (bytes: number): boolean => {
    if (!runtime.strangers.take(id, bytes - held)) return false;
    held = bytes;
    return true;
  };
  try {
    const rule = environment?.requiresClients && !lookupFault ? config?.signature : undefined;
    const refusal = rule ? await judgeSignature(call, runtime, rule, hold) : await takeSignedBody(call, hold);
    if (refusal && TOLD.has(refusal.code)) return refusal;
    if (!rule || refusal) return (await takeSignedBody(call, hold)) ?? notAdmitted(call, runtime, 'authentication_required');
    if (call.body && !runtime.bodies.hold(call, call.body.length)) return CROWDED;
  } finally {
    runtime.strangers.give(id, held);
  }
  return afterAdmission(call, runtime);
}

type Rejection = Exclude<ReturnType<typeof admission>, 'admitted'>;

function notAdmitted(call: RouteCall, runtime: Runtime, result: Rejection): Refused {
  const { caller, fault } = call.credential;
  if (result === 'wrong_key_type') {
    const word = wordFor(caller);
    return refused(
      'wrong_key_type',
      call.snapshot.sandbox ? `A Live ${word} can't call the Test host.` : `A Test ${word} can't call the Live host.`,
    );
  }
  if (result === 'client_not_authorized') return refused('client_not_authorized', 'Only clients assigned to this route can call it.');
  return limitFailures(call, runtime) ?? fault ?? OPAQUE[result];
}

const wordFor = (caller: Caller | null): 'key' | 'token' => (caller?.kind === 'oauth_client' || caller?.kind === 'agent' ? 'token' : 'key');

/** Equal for every route, existing or not. */
const OPAQUE = {
  authentication_required: refused('authentication_required', 'Authentication required. Send a credential in X-Svc-Key or Authorization.'),
  invalid_api_key: refused('invalid_api_key', 'Invalid credential.'),
};
