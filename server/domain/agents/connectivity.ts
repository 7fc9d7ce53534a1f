import { raise } from '#server/domain/events/service.ts';
import { type Db, inTransaction, type Tx } from '#server/kernel/database.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { connectivityOf, OFFLINE_AFTER_MS } from './modes.shared.ts';
import type { AgentRecord } from './store.ts';

const BATCH = 500;

/** Tells of agents that fell silent (interface rule 63 §6). @returns agents told of */
export async function tellConnectivity(db: Db, now: Date): Promise<number> {
  const silent = await db.agents.findMany({
    where: { status: 'active', told_connectivity: 'online', last_heartbeat_at: { lt: new Date(now.getTime() - OFFLINE_AFTER_MS) } },
    select: { id: true, tenant_id: true, sandbox: true },
    take: BATCH,
  });
  let told = 0;
  for (const { id, tenant_id, sandbox } of silent)
    told += await inTransaction(systemContext(db, { tenant_id, sandbox, now, label: 'agent connectivity' }), (tx) => tellOf(tx, id, now));
  return told;
}

/** Raises `agent.online` or `agent.offline` when the agent is not what others were told last. @returns 1 when something was told */
export async function tellOf(tx: Tx, id: string, now: Date): Promise<number> {
  const [row] = await tx.$queryRaw<AgentRecord[]>`select * from agents where id = ${id}::uuid for no key update`;
  if (!row) return 0;
  const is = connectivityOf(row, now);
  const next = is === 'online' || is === 'offline' ? is : null;
  if (next === null || next === row.told_connectivity) return 0;
  await tx.agents.update({ where: { id }, data: { told_connectivity: next, updated_at: row.updated_at } });
  const data = {
    id,
    name: row.name,
    agent_id: row.agent_id,
    mode: row.mode,
    hostname: row.hostname,
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
  };
  await raise(tx, { tenant_id: row.tenant_id, sandbox: row.sandbox, now }, [{ type: `agent.${next}`, source_id: id, data }]);
  return 1;
}
