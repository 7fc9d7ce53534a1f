import type { Actor, HotCtx } from '#server/kernel/context.ts';
import type { Caller } from '../snapshot/model.ts';
import { type Call, subjectsOf } from './call.ts';

/** In whose name keys and vaults are used in a call: that of its credential. */
export function callerContext(call: Call): HotCtx {
  const { snapshot, requestId, sourceAddress, userAgent, credential } = call;
  return {
    tenant_id: snapshot.tenant.id,
    sandbox: snapshot.sandbox,
    actor: credential.caller
      ? actorOfCaller(credential.caller)
      : { capabilities: NOTHING, acts_for: subjectsOf(call), type: 'system', id: null, label: 'caller without a credential' },
    plan: snapshot.tenant.plan,
    request_id: requestId,
    ip: sourceAddress,
    user_agent: userAgent,
    now: new Date(),
    warnings: [],
  };
}

const NOTHING: Actor['capabilities'] = new Set();

/** A caller as audit entries and policies name it. Its rights aren't asked here: whoever uses keys and vaults for it has asked them. */
export function actorOfCaller(caller: Caller): Actor {
  const base = { capabilities: NOTHING, acts_for: caller.subjects };
  const [{ role, key_role_ids = [] }] = caller.subjects;
  if (caller.kind === 'api_key')
    return {
      ...base,
      type: 'api_key',
      id: caller.apiKeyId ?? caller.ref,
      label: caller.label,
      key_id: caller.ref,
      role_ids: key_role_ids,
    };
  if (caller.kind === 'agent')
    return { ...base, type: 'agent', id: caller.ref, label: caller.label, agent_id: caller.ref, mode: 'intercept' };
  return {
    ...base,
    type: 'oauth_token',
    id: caller.ref,
    label: caller.label,
    client_id: caller.oauthClientId ?? caller.ref,
    token_id: caller.id,
    user_id: caller.userId,
    person: role ? { email: caller.email ?? '', role } : null,
    // What binds the key behind a token, or one of its roles, binds the token.
    source_key: caller.apiKeyId === null ? null : { id: caller.apiKeyId, role_ids: key_role_ids },
    family_id: null,
    scopes: [],
    step_up_at: null,
  };
}
