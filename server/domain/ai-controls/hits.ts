import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { FirewallHit } from './schema.ts';

type Row = { request_id: string; ts: Date; agent_id: string | null; user: string | null; firewall: string[]; code: string | null };

const SHOWN = 50;
/** Most calls match nothing, so only so many of the newest are looked through. */
const LOOKED_THROUGH = 5_000;

/** The newest calls whose prompt matched a firewall rule, among the last thousands. Prompts are not kept, so what matched can't be shown. */
export const recentHits = (ctx: Ctx): Promise<z.input<typeof FirewallHit>[]> =>
  read(ctx, async (tx) => {
    const rows = await tx.$queryRaw<Row[]>`
      select * from (select request_id, ts, agent_id, "user", firewall, code from ai_request_logs
        where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} order by ts desc, id desc limit ${LOOKED_THROUGH}) newest
      where firewall <> '{}' order by ts desc limit ${SHOWN}`;
    const ids = [...new Set(rows.flatMap(({ agent_id }) => (agent_id === null ? [] : [agent_id])))];
    const agents = new Map(
      (await tx.ai_agents.findMany({ where: { ...own(ctx), id: { in: ids } }, select: { id: true, name: true } })).map((one) => [
        one.id,
        one.name,
      ]),
    );
    return rows.map(({ request_id, ts, agent_id, user, firewall, code }) => ({
      request_id,
      at: ts.toISOString(),
      agent_id,
      agent_name: agents.get(agent_id ?? '') ?? null,
      user,
      rules: firewall,
      blocked: code === 'firewall_block',
    }));
  });
