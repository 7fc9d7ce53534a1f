import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
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
    return takeWaiting(tx, ctx, agent);
  });
  return answerWith(ctx, commands);
}

const answerWith = (ctx: Ctx, commands: Command[]) => ({ ok: true, commands, server_time: ctx.now.toISOString(), revoked: false });

/** The answer to a heartbeat without one, for an agent that keeps a connection open. It says nothing of whether the agent lives. */
export const pushed = async (ctx: Ctx, agent: AgentCaller) => ({
  ...answerWith(ctx, await inTransaction(ctx, (tx) => takeWaiting(tx, ctx, agent))),
  pushed: true,
});

/** Counts a connection that an agent opens. @throws Refusal rate_limit_exceeded */
export const countConnection = (ctx: Ctx, agent: AgentCaller) =>
  throttled([{ what: 'agent-control', subject: agent.id, limit: PER_HOUR, window_sec: 3_600 }], ctx.now, 'rate_limit_exceeded');

type Command = { id: string; command: string; args: Record<string, unknown> };

/** Each command is handed out once, whoever asks at the same time. */
async function takeWaiting(tx: Tx, ctx: Ctx, agent: AgentCaller): Promise<Command[]> {
  const waiting = await tx.$queryRaw<(Command & { created_at: Date })[]>`
    update agent_commands set status = 'sent', sent_at = ${ctx.now}::timestamptz where id in (
      select id from agent_commands where agent_id = ${agent.id}::uuid and status = 'queued' order by created_at, id limit ${AT_ONCE} for update skip locked)
    returning id, command, args, created_at`;
  return waiting.map(({ id, command, args }) => ({ id, command, args }));
}
