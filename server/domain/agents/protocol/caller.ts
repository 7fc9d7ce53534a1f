import type { AgentKeys } from '#server/crypto/agent-keys.ts';
import { digest } from '#server/crypto/tokens.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { openAgentKeys } from '../sealing.ts';
import type { AgentRecord } from '../store.ts';

/** An agent with what the plane must know of its workspace. */
export type AgentCaller = AgentRecord & {
  plan: Ctx['plan'];
  tenant_slug: string;
  /** The workspace's key is in the customer's own KMS: its windows are short. */
  own_kms: boolean;
};

/** Undefined when there is none. Outside of row-level security: the agent says which workspace it is. */
export async function agentCalled(agentId: string): Promise<AgentCaller | undefined> {
  const { rows } = await sql().query<AgentCaller>({
    name: 'agent-caller',
    text: `${CALLER} where a.agent_id = $1 and t.deleted_at is null`,
    values: [agentId],
  });
  return rows[0];
}

/** `select` of agents with their workspaces; callers add the condition. */
export const CALLER = `select a.*, t.subscription_plan as plan, t.slug as tenant_slug, exists (select from tenant_master_keys k
    where k.tenant_id = a.tenant_id and k.status = 'active' and k.wrap_method = 'customer_kms') as own_kms
  from agents a join tenants t on t.id = a.tenant_id`;

export type SessionRow = { id: string; window: string; expires_at: Date; revoked_at: Date | null; agent: AgentCaller };

/** The session of a token, ended or not; undefined when it is nobody's, or another agent's. */
export async function sessionOf(agentId: string, token: string): Promise<SessionRow | undefined> {
  const { rows } = await sql().query<SessionRow>({
    name: 'agent-session',
    text: `select s.id, s."window", s.expires_at, s.revoked_at, to_jsonb(c.*) as agent from agent_sessions s
      join (${CALLER} where t.deleted_at is null) c on c.id = s.agent_id where s.token_digest = $1 and c.agent_id = $2`,
    values: [digest(token), agentId],
  });
  const [row] = rows;
  return row && { ...row, agent: revived(row.agent) };
}

const TIMES = [
  'last_seen_at',
  'last_heartbeat_at',
  'last_session_issued_at',
  'fingerprint_at',
  'revoked_at',
  'created_at',
  'updated_at',
] as const;

/** JSON has no times. */
const revived = (row: AgentCaller): AgentCaller => ({
  ...row,
  ...Object.fromEntries(TIMES.map((name) => [name, row[name] === null ? null : new Date(row[name])])),
});

/** The keys that are good now, the current ones first. @throws TenantKeyUnavailable */
export async function keysOf(agent: AgentCaller, now: Date): Promise<AgentKeys[]> {
  const { rows } = await sql().query<{ id: string; value_ct: Buffer; cek_wrapped: Buffer; tmk_version: number }>({
    name: 'agent-keys',
    text: `select id, value_ct, cek_wrapped, tmk_version from agent_keys
      where agent_id = $1 and (expires_at is null or expires_at > $2) order by expires_at nulls first`,
    values: [agent.id, now],
  });
  return Promise.all(rows.map((row) => openAgentKeys(agent, row)));
}

type Asked = { ip: string | null; user_agent: string | null; request_id: string; now: Date };

/** An agent has no capability: what it may do is decided by its plane alone. */
export const contextOf = (agent: AgentCaller, { ip, user_agent, request_id, now }: Asked): Ctx => ({
  db: db(),
  tenant_id: agent.tenant_id,
  sandbox: agent.sandbox,
  actor: { type: 'agent', id: agent.id, agent_id: agent.agent_id, mode: agent.mode, label: agent.name, capabilities: new Set() },
  plan: agent.plan,
  request_id,
  ip,
  user_agent,
  now,
  warnings: [],
});
