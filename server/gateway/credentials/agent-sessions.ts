import { classifyCredential } from '#server/crypto/tokens.ts';
import { type Backing, backingColumn } from '#server/custody/backing.ts';
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
  /** Whoever made the agent's working secrets, as they are now. */
  backings: readonly Backing[];
};

/** Who holds something open for as long as a session lasts. */
export type SessionFollower = {
  /** A session may have ended: the one with this digest (hex), one of the workspace, or any at all. */
  changed(tenantId?: string, digest?: string): void;
  /** A command waits for an agent, by the ID of its row. */
  commanded(agentRowId: string): void;
};

export type AgentSessions = Pick<KeyedLookup<AgentSession>, 'find' | 'forget' | 'forgetAll'> & {
  /** Takes the payload of an announcement: a session is looked up again, or all of a workspace. */
  heard(payload: string): void;
  heardCommand(agentRowId: string): void;
  follow(follower: SessionFollower): void;
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
  const followers: SessionFollower[] = [];
  return {
    find,
    forget,
    forgetAll() {
      forgetAll();
      for (const one of followers) one.changed();
    },
    heard(payload) {
      const [tenantId = '', hex] = payload.split(':');
      if (hex === undefined) forget(tenantId);
      else forgetOne(Buffer.from(hex, 'hex'));
      for (const one of followers) one.changed(tenantId, hex);
    },
    heardCommand(agentRowId) {
      for (const one of followers) one.commanded(agentRowId);
    },
    follow: (follower) => void followers.push(follower),
  };
}

/** Which of the sessions with these digests (hex) still stand, and which ended because their agent was revoked; the others are in neither. */
export async function standingSessions(digests: readonly string[]): Promise<{ standing: Set<string>; revoked: Set<string> }> {
  const { rows } = await sql().query<{ digest: string; revoked: boolean }>({
    name: 'gateway-agent-sessions-standing',
    text: `select encode(s.token_digest, 'hex') as digest, a.status = 'revoked' as revoked from agent_sessions s join agents a on a.id = s.agent_id
      where s.token_digest = any($1::bytea[]) and (a.status = 'revoked' or s.revoked_at is null and s.expires_at > now())`,
    values: [digests.map((hex) => Buffer.from(hex, 'hex'))],
  });
  const of = (wanted: boolean) => new Set(rows.filter(({ revoked }) => revoked === wanted).map(({ digest }) => digest));
  return { standing: of(false), revoked: of(true) };
}

async function sessionRow(digest: Uint8Array): Promise<AgentSession | undefined> {
  const { rows } = await sql().query<AgentSession>({ name: 'gateway-agent-session', text: QUERY, values: [digest] });
  return rows[0];
}

const QUERY = `select s.id, s.tenant_id, s.sandbox, s.token_digest as digest, a.id as agent_row_id, a.agent_id, a.name, a.mode,
    a.allowed_route_ids::text[] as allowed_route_ids, a.allowed_cidrs, s.expires_at,
    (select coalesce(jsonb_agg(m.backing), '[]') from (select ${backingColumn('k.made_by', 'a.tenant_id')} from agent_keys k
      where k.agent_id = a.id and k.made_by is not null and coalesce(k.expires_at > now(), true)) m) as backings
  from agent_sessions s join agents a on a.id = s.agent_id where s.token_digest = $1 and s.revoked_at is null and a.status = 'active'`;
