import { admission } from '../../core/admission.ts';
import type { Call } from '../../core/call.ts';
import { networkOf } from '../../core/client-address.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';

/** Two polls of the configuration that failed: from then on a call says how old the picture was that it was served from (interface rule 12 §15). */
const UNCONFIRMED_MS = 60_000;

/** Step 7: the admission table, or the opaque 401; then what only the admitted may know; then the workspace's own limits. */
export function admit(call: Call, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { snapshots } = runtime;
  if (!snapshots.fresh) return refused('dependency_unavailable', "The gateway can't confirm its configuration. Try again shortly.");
  const age = snapshots.ageMs(call.receivedAt);
  if (age > UNCONFIRMED_MS) call.warnings = [`unconfirmed:${Math.floor(age / 1000)}`];
  const { environment, credential, trial } = call;
  const { tenant } = call.snapshot;
  if (trial) {
    // Who may call is not asked, but shown: the person is let in by their role, and is no client of the route.
    const required = environment?.requiresClients ?? false;
    trial.checks.requires_clients = { required, met: !required || call.client !== null, client: call.client?.client.name ?? null };
    call.client = null;
  }
  const result = admission(
    environment?.requiresClients ?? false,
    credential.state,
    call.client !== null,
    tenant.settings.proxy_require_credential,
  );
  if (result !== 'admitted' && !trial) return notAdmitted(call, runtime, result);
  call.admitted = true;
  if (call.lookupFault) return call.lookupFault;
  if (!tenant.servable) return refused('subscription_inactive', "This workspace's subscription is not active.");
  if (trial) return trial.dry ? undefined : tenantLimit(call, runtime);
  const { key } = credential;
  // Tenant policies that deny proxy:invoke (interface rule 24 §6) go here, once something can make one: see domain/policies/service.ts.
  if (key && !key.mayInvoke) return refused('forbidden', "This credential can't call routes: it lacks the capability proxy:invoke.");
  if (key?.allows && !key.allows(call.sourceAddress)) return refused('forbidden', "This key can't be used from this IP address.");
  return tenantLimit(call, runtime);
}

type Rejection = Exclude<ReturnType<typeof admission>, 'admitted'>;

function notAdmitted(call: Call, runtime: Runtime, result: Rejection): Refused {
  if (result === 'wrong_key_type')
    return refused(
      'wrong_key_type',
      call.snapshot.sandbox ? "A Live key can't call the Test host." : "A Test key can't call the Live host.",
    );
  if (result === 'client_not_authorized') return refused('client_not_authorized', 'Only clients assigned to this route can call it.');
  const rule = { key: `${call.snapshot.tenant.id} ${networkOf(call.sourceAddress)}`, limit: 30, windowMs: 60_000, burst: null };
  const failures = runtime.failures.take([rule], call.receivedAt)[0];
  if (failures && !failures.admitted)
    return refused('auth_throttled', 'Too many failed authentication attempts from this address. Try again later.', {
      retryAfter: failures.retryAfter,
    });
  return OPAQUE[result];
}

/** Equal for every route, existing or not. */
const OPAQUE = {
  authentication_required: refused('authentication_required', 'Authentication required. Send a credential in X-Svc-Key or Authorization.'),
  invalid_api_key: refused('invalid_api_key', 'Invalid credential.'),
};

/** Counts every admitted call, before any other work is done for it. */
function tenantLimit(call: Call, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { tenant, space } = call.snapshot;
  if (tenant.rps === null) return undefined;
  const perMinute = tenant.rps * 60;
  const taken = runtime.counters.take(
    [{ key: `t:${tenant.id}:${space}`, limit: perMinute, windowMs: 60_000, burst: perMinute }],
    call.receivedAt,
  );
  const judge = ([verdict]: Awaited<typeof taken>): Refused | undefined => {
    if (!verdict) return undefined;
    call.tenantVerdict = verdict;
    return verdict.admitted
      ? undefined
      : refused('tenant_rate_limit_exceeded', `Workspace rate limit exceeded: ${perMinute} calls per minute.`, {
          retryAfter: verdict.retryAfter,
        });
  };
  return taken instanceof Promise ? taken.then(judge) : judge(taken);
}
