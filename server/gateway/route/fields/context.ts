import type { Actor, HotCtx } from '#server/kernel/context.ts';
import { subjectsOf } from '../../core/call.ts';
import { actorOfCaller } from '../../core/caller-context.ts';
import type { RouteCall } from '../route-call.ts';

/**
 * In whose name keys and vaults are used in a call. Its rights aren't asked: whoever configured the route had to have them. Audit entries name who called, or
 * the client that was recognised without a credential.
 */
export function fieldContext(call: RouteCall): HotCtx {
  const { snapshot, requestId, sourceAddress, userAgent } = call;
  return {
    tenant_id: snapshot.tenant.id,
    sandbox: snapshot.sandbox,
    actor: actorOf(call),
    plan: snapshot.tenant.plan,
    request_id: requestId,
    ip: sourceAddress,
    user_agent: userAgent,
    now: new Date(),
    warnings: [],
  };
}

const NOTHING: Actor['capabilities'] = new Set();

function actorOf({ credential, client, test, state }: RouteCall): Actor {
  const base = { capabilities: NOTHING, acts_for: subjectsOf({ test, credential }) };
  const { caller } = credential;
  // A test works for the person who started it, whose session is no business of the gateway.
  if (test?.userId) {
    const minted_by = { type: 'user' as const, id: test.userId, label: `test of the route ${state.route?.name ?? ''}` };
    return { ...base, type: 'capability_token', id: test.userId, label: minted_by.label, agent_id: '', token_kind: 'oneshot', minted_by };
  }
  if (caller) return { ...actorOfCaller(caller), acts_for: base.acts_for };
  return { ...base, type: 'system', id: null, label: client ? `client ${client.client.name}` : 'caller without a credential' };
}
