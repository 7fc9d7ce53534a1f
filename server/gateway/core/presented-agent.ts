import { subjectOf } from '#server/custody/backing.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { UNNAMED } from '#server/kernel/policy-callers.ts';
import { log } from '#server/platform/log.ts';
import type { AgentSession } from '../credentials/agent-sessions.ts';
import type { Busy } from '../credentials/keyed-lookup.ts';
import type { Caller } from '../snapshot/model.ts';
import { BAD_CREDENTIAL, type Call } from './call.ts';
import { type Refused, refused } from './refusal.ts';
import type { Runtime } from './runtime.ts';

const UNDECIDED = refused('dependency_unavailable', "The gateway can't check the session of the agent. Try again shortly.");

/**
 * Judges X-Svc-Agent-Id with X-Svc-Agent-Token and keeps the result in `call.credential`, as for keys. At once when the session is known. A refusal says only
 * that nothing can be decided now.
 */
export function verifyAgent(call: Call, { agents }: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const found = call.agentId === null || call.agentToken === null ? null : agents.find(call.agentToken);
  if (!(found instanceof Promise)) return judge(call, found);
  return found.then(
    (known) => judge(call, known),
    (error: unknown) => {
      log.debug({ err: error, request_id: call.requestId }, 'a session of an agent could not be looked up');
      return UNDECIDED;
    },
  );
}

function judge(call: Call, known: AgentSession | null | Busy): Refused | undefined {
  if (known === 'busy') return UNDECIDED;
  const isOwn = known !== null && known.tenant_id === call.snapshot.tenant.id && known.agent_id === call.agentId;
  if (!isOwn || known.expires_at.getTime() <= call.receivedAt) call.credential = BAD_CREDENTIAL;
  else call.credential = { state: known.sandbox === call.snapshot.sandbox ? 'valid' : 'wrong_space', caller: callerOf(known), fault: null };
  return undefined;
}

const compiled = new WeakMap<AgentSession, Caller>();

/** A session as calls see it, worked out once for as long as its row is remembered. */
function callerOf(session: AgentSession): Caller {
  const known = compiled.get(session);
  if (known) return known;
  const { agent_row_id, agent_id, name, mode, allowed_route_ids, allowed_cidrs, digest, expires_at } = session;
  const [first, ...others] = session.backings;
  const caller: Caller = {
    id: agent_row_id,
    kind: 'agent',
    ref: agent_row_id,
    label: `${name} (${agent_id})`,
    digest,
    // An agent of mode control runs commands; it sends no calls.
    mayInvoke: mode !== 'control',
    mayDetokenize: false,
    allows: allowed_cidrs.length > 0 ? compileRanges(allowed_cidrs) : null,
    routes: allowed_route_ids.length > 0 ? new Set(allowed_route_ids) : null,
    endsAt: expires_at.getTime(),
    // What binds whoever holds its secret binds the agent.
    subjects: first ? [subjectOf(first), ...others.map(subjectOf)] : UNNAMED,
    used: [],
    apiKeyId: null,
    oauthClientId: null,
    userId: null,
  };
  compiled.set(session, caller);
  return caller;
}
