import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { throttled } from '#server/platform/throttle.ts';
import { tellOf } from '../connectivity.ts';
import type { AgentCaller } from './caller.ts';
import type { Heartbeat } from './schema.ts';

const PER_HOUR = 120;
const AT_ONCE = 10;

/** Notes that the agent lives and what it counted, and hands out the commands that wait for it. @throws Refusal rate_limit_exceeded */
export async function heartbeat(ctx: Ctx, agent: AgentCaller, { version, mode: _, ...health }: z.output<typeof Heartbeat>) {
  await throttled([{ what: 'agent-heartbeat', subject: agent.id, limit: PER_HOUR, window_sec: 3_600 }], ctx.now, 'rate_limit_exceeded');
  const commands = await inTransaction(ctx, async (tx) => {
    const mine = { ...own(ctx), agent_id: agent.id };
    const { counters, p95_ms = null, mem_mb = null, cpu = null, last_error = null, ...rest } = health;
    await tx.agents.update({
      where: { id: agent.id, ...own(ctx) },
      data: {
        ...{ version, last_heartbeat_at: ctx.now, last_seen_at: ctx.now, last_ip: ctx.ip, updated_at: agent.updated_at },
        health: { ...rest, counters, p95_ms, mem_mb, cpu, last_error },
      },
    });
    await tx.agent_metrics.createMany({ data: { ...mine, at: ctx.now, ...counters, p95_ms, mem_mb, cpu }, skipDuplicates: true });
    await tellOf(tx, agent.id, ctx.now);
    const waiting = await tx.$queryRaw<{ id: string; command: string; args: Record<string, unknown> }[]>`
      update agent_commands set status = 'sent', sent_at = ${ctx.now}::timestamptz where id in (
        select id from agent_commands where agent_id = ${agent.id}::uuid and status = 'queued' order by created_at, id limit ${AT_ONCE} for update skip locked)
      returning id, command, args, created_at`;
    return waiting.map(({ id, command, args }) => ({ id, command, args }));
  });
  return { ok: true, commands, server_time: ctx.now.toISOString(), revoked: false };
}
