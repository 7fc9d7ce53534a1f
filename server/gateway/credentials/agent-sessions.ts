import { classifyCredential } from '#server/crypto/tokens.ts';
import { sql } from '#server/platform/sql.ts';
import { type KeyedLookup, keyedLookup } from './keyed-lookup.ts';

/** A session of an on-host agent with what calls of routes need of the agent (interface rule 63 §8). */
export type AgentSession = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  digest: Uint8Array;
  agent_row_id: string;
  agent_id: string;
  name: string;
  mode: 'control' | 'intercept' | 'server' | 'proxy';
  allowed_route_ids: readonly string[];
  allowed_cidrs: readonly string[];
  expires_at: Date;
};

export type AgentSessions = Pick<KeyedLookup<AgentSession>, 'find' | 'forget' | 'forgetAll'> & {
  /** Takes the payload of an announcement: a session is looked up again, or all of a workspace. */
  heard(payload: string): void;
};

/** A lost announcement keeps a revoked agent's session alive for at most this long. */
const TTL_MS = 1_000;
const MAX_SESSIONS = 20_000;
const MAX_LOADS = 64;

/** Nothing is decided by a row older than the TTL: without the database calls are refused, and never with 401. */
export function agentSessions(): AgentSessions {
  const { find, forget, forgetAll, forgetOne } = keyedLookup<AgentSession>({
    load: async (text, digest) => (classifyCredential(text).kind === 'agent_session' ? sessionRow(digest) : undefined),
    max: MAX_SESSIONS,
    ttl_ms: TTL_MS,
    negative_ttl_ms: TTL_MS,
    max_loads: MAX_LOADS,
  });
  const heard = (payload: string) => {
    const [tenantId = '', hex] = payload.split(':');
    if (hex === undefined) forget(tenantId);
    else forgetOne(Buffer.from(hex, 'hex'));
  };
  return { find, forget, forgetAll, heard };
}

async function sessionRow(digest: Uint8Array): Promise<AgentSession | undefined> {
  const { rows } = await sql().query<AgentSession>({ name: 'gateway-agent-session', text: QUERY, values: [digest] });
  return rows[0];
}

const QUERY = `select s.id, s.tenant_id, s.sandbox, s.token_digest as digest, a.id as agent_row_id, a.agent_id, a.name, a.mode,
    a.allowed_route_ids::text[] as allowed_route_ids, a.allowed_cidrs, s.expires_at
  from agent_sessions s join agents a on a.id = s.agent_id where s.token_digest = $1 and s.revoked_at is null and a.status = 'active'`;
