import type { Ctx } from './context.ts';
import type { Db } from './database.ts';

/** A context for work nobody asked for (jobs): it acts as the system, in one workspace and space. `label` names the job in audit entries. */
export const systemContext = (db: Db, at: { tenant_id: string; sandbox?: boolean; now: Date; label: string }): Ctx => ({
  db,
  tenant_id: at.tenant_id,
  sandbox: at.sandbox ?? false,
  actor: { type: 'system', id: null, label: at.label, capabilities: new Set() },
  plan: 'enterprise', // no job is gated by a plan
  request_id: '',
  ip: null,
  user_agent: null,
  now: at.now,
  warnings: [],
});
