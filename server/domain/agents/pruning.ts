import { sql } from '#server/platform/sql.ts';

/** Revoked agents are shown for 90 days, sessions and tokens for 30, counts of heartbeats for 8. @returns rows deleted */
export async function pruneAgents(now: Date): Promise<number> {
  let deleted = 0;
  for (const text of RULES) deleted += (await sql().query(text, [now])).rowCount ?? 0;
  return deleted;
}

const RULES = [
  'delete from agent_nonces where expires_at < $1',
  "delete from agent_keys where expires_at < $1::timestamptz - interval '1 hour'",
  "delete from agent_sessions where expires_at < $1::timestamptz - interval '30 days'",
  "delete from agent_install_tokens where expires_at < $1::timestamptz - interval '30 days'",
  "delete from agent_metrics where at < $1::timestamptz - interval '8 days'",
  "delete from agent_commands where created_at < $1::timestamptz - interval '30 days'",
  // Nobody waits a day for a doctor.
  "update agent_commands set status = 'expired', finished_at = $1, error = 'The agent didn’t answer within a day.' where status in ('queued', 'sent') and created_at < $1::timestamptz - interval '1 day'",
  "delete from agents where revoked_at < $1::timestamptz - interval '90 days'",
] as const;
