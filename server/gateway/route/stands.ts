import { admission } from '../core/admission.ts';
import { authenticate } from '../core/authenticate.ts';
import { BAD_CREDENTIAL, type Credential, subjectsOf } from '../core/call.ts';
import { ourAuthorization } from '../core/presented-credential.ts';
import type { Runtime } from '../core/runtime.ts';
import { callerOf } from '../core/token-caller.ts';
import { findRoute } from './phases/find-route.ts';
import { matchClient } from './phases/match-client.ts';
import { restrict } from './phases/restrict.ts';
import { newRouteState, type RouteCall } from './route-call.ts';

/**
 * Whether a call that is still open, as a WebSocket is, would be admitted now: its route and environment, its credential, its client, the list of addresses and
 * the workspace's policies are those of the newest snapshot. What is used up by one call, a signature or a proof, isn't asked for again.
 */
export function stands(call: RouteCall, runtime: Runtime): boolean | Promise<boolean> {
  const { snapshots } = runtime;
  const entry = snapshots.byId(call.snapshot.tenant.id);
  if (!entry || !snapshots.fresh) return false;
  const [snapshot, otherSpace] = call.snapshot.sandbox ? [entry.test, entry.live] : [entry.live, entry.test];
  const { reference, routeHeader, environmentHeader, forwardPath, query } = call.state;
  const again: RouteCall = {
    ...call,
    snapshot,
    otherSpace,
    receivedAt: Date.now(),
    client: null,
    state: { ...newRouteState(), reference, routeHeader, environmentHeader, forwardPath, query },
  };
  findRoute(again);
  if (!snapshot.tenant.servable || again.state.lookupFault || again.state.route?.id !== call.state.route?.id) return false;
  if (restrict(again)) return false;
  againAClient(again, call, runtime);
  const credential = credentialNow(again, call, runtime);
  return credential instanceof Promise ? credential.then((now) => isAdmitted(again, now)) : isAdmitted(again, credential);
}

/** By certificate or address as ever; the signature that was good stays so for as long as its credential is there. */
function againAClient(again: RouteCall, { client }: RouteCall, runtime: Runtime): void {
  if (!client?.method.startsWith('signature')) {
    matchClient(again, runtime);
    return;
  }
  const signer = again.snapshot.signerById(client.credentialId);
  const { environment } = again.state;
  if (signer && signer.endsAt > again.receivedAt && (!environment?.requiresClients || environment.assigned.has(signer.client.id)))
    again.client = client;
}

function credentialNow(
  again: RouteCall,
  { proof, authorization, credential }: RouteCall,
  runtime: Runtime,
): Credential | Promise<Credential> {
  const bound = proof === null || authorization === null ? undefined : ourAuthorization(authorization);
  if (bound?.scheme !== 'dpop') {
    const refusal = authenticate(again, runtime);
    // A look-up that can't be made now ends nothing: calls are refused only while it lasts.
    if (refusal instanceof Promise) return refusal.then((late) => (late ? credential : again.credential));
    return refusal === undefined ? again.credential : credential;
  }
  const judge = (row: Awaited<ReturnType<Runtime['tokens']['find']>>): Credential => {
    if (row === 'busy') return credential;
    const good = row !== null && row.tenant_id === again.snapshot.tenant.id && callerOf(row).endsAt > again.receivedAt;
    return good ? { state: 'valid', caller: callerOf(row), fault: null } : BAD_CREDENTIAL;
  };
  const found = runtime.tokens.find(bound.text);
  return found instanceof Promise ? found.then(judge, () => credential) : judge(found);
}

function isAdmitted(again: RouteCall, credential: Credential): boolean {
  const { snapshot, client, sourceAddress, test } = again;
  const { environment, route } = again.state;
  const { state, caller } = credential;
  const strict = snapshot.tenant.settings.proxy_require_credential;
  if (admission(environment?.requiresClients ?? false, state, client !== null, strict) !== 'admitted') return false;
  if (caller?.routes && !(route && caller.routes.has(route.id))) return false;
  if (caller && (!caller.mayInvoke || (caller.allows !== null && !caller.allows(sourceAddress)))) return false;
  return !snapshot.policyDenying(subjectsOf({ test, credential }), route);
}
