import { countDenial } from '#server/domain/policies/denials.ts';
import { admission } from '../../core/admission.ts';
import { Capture } from '../../core/capture.ts';
import { limitFailures, limitWorkspaceRate } from '../../core/limits.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { Caller } from '../../snapshot/model.ts';
import type { RouteCall } from '../route-call.ts';

/** Two polls of the configuration that failed: from then on a call says how old the picture was that it was served from (interface rule 12 §15). */
const UNCONFIRMED_MS = 60_000;

/** Step 7: the admission table, or the opaque 401; then what only the admitted may know; then the workspace's own limits. */
export function admit(call: RouteCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { snapshots } = runtime;
  if (!snapshots.fresh) return refused('dependency_unavailable', "The gateway can't confirm its configuration. Try again shortly.");
  const age = snapshots.ageMs(call.receivedAt);
  if (age > UNCONFIRMED_MS) call.warnings = [`unconfirmed:${Math.floor(age / 1000)}`];
  const { credential } = call;
  const { environment, lookupFault, test } = call.state;
  const { tenant } = call.snapshot;
  if (test) {
    // The route's requirements are shown, not enforced: the person's role admitted them, and they are no client of the route.
    const required = environment?.requiresClients ?? false;
    test.checks.requires_clients = { required, met: !required || call.client !== null, client: call.client?.client.name ?? null };
    call.client = null;
  }
  const result = admission(
    environment?.requiresClients ?? false,
    credential.state,
    call.client !== null,
    tenant.settings.proxy_require_credential,
  );
  if (result !== 'admitted' && !test) return notAdmitted(call, runtime, result);
  call.admitted = true;
  if (lookupFault) return lookupFault;
  if (!tenant.servable) return refused('subscription_inactive', "This workspace's subscription is not active.");
  const payloads = call.state.config?.logPayloads ?? tenant.settings.log_payloads_default;
  if (payloads !== 'off' && call.state.config && !test?.dry) call.capture = new Capture(payloads, tenant.id, runtime.captures);
  if (test) return test.dry ? undefined : limitWorkspaceRate(call, runtime);
  const { caller } = credential;
  if (caller && !caller.mayInvoke) return refused('forbidden', "This credential can't call routes: it lacks the capability proxy:invoke.");
  const policy = call.snapshot.policyDenying(caller, call.state.route);
  if (policy) return denied(call, policy);
  if (caller?.allows && !caller.allows(call.sourceAddress))
    return refused('forbidden', `This ${wordFor(caller)} can't be used from this IP address.`);
  return limitWorkspaceRate(call, runtime);
}

/** As the Management API words it (interface rule 24 §6). */
function denied(call: RouteCall, { id, name }: { id: string; name: string }): Refused {
  const { caller } = call.credential;
  countDenial({
    tenant_id: call.snapshot.tenant.id,
    sandbox: call.snapshot.sandbox,
    policy_id: id,
    capability: 'proxy:invoke',
    actor_type: caller?.kind ?? 'client',
    actor_id: caller?.ref ?? call.client?.client.id ?? '',
    actor_label: caller?.label ?? call.client?.client.name ?? 'no credential',
    request_id: call.requestId,
  });
  return refused('forbidden', `denied by tenant policy ${name}`);
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

const wordFor = (caller: Caller | null): 'key' | 'token' => (caller?.kind === 'oauth_client' ? 'token' : 'key');

/** Equal for every route, existing or not. */
const OPAQUE = {
  authentication_required: refused('authentication_required', 'Authentication required. Send a credential in X-Svc-Key or Authorization.'),
  invalid_api_key: refused('invalid_api_key', 'Invalid credential.'),
};
