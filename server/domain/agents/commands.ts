import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { wholeList } from '#server/kernel/page.ts';
import type { COMMAND_STATES, COMMANDS } from './modes.shared.ts';
import type { SendCommand } from './schema.ts';
import { requireActive } from './service.ts';
import { agentById, entryOf, lockedAgent, personOf } from './store.ts';

/** So many wait for one agent at most: a host that is off must not wake up to a hundred scans. */
const MOST_WAITING = 10;
const SHOWN = 50;
type Words = { command: (typeof COMMANDS)[number]; status: (typeof COMMAND_STATES)[number]; args: Record<string, unknown> };

/** Queues a command; the agent takes it at once by its control connection, or with its next heartbeat. @throws Refusal not_found, conflict */
export function sendCommand(ctx: Ctx, { id, command, args }: z.output<typeof SendCommand>) {
  if (args !== undefined && command !== 'scan') throw invalid('args', 'is only for the command scan');
  return mutate(ctx, async (tx) => {
    const agent = await lockedAgent(tx, ctx, id);
    requireActive(agent);
    const mine = { ...own(ctx), agent_id: agent.id };
    const waiting = await tx.agent_commands.count({ where: { ...mine, status: { in: ['queued', 'sent'] } } });
    if (waiting >= MOST_WAITING)
      throw new Refusal('conflict', `${waiting} commands already wait for this agent. Try again once it has taken them.`);
    const row = await tx.agent_commands.create({
      data: {
        ...mine,
        id: newId(),
        command,
        args: args ?? {},
        created_by: personOf(ctx),
        requested_by: ctx.actor.label,
        created_at: ctx.now,
      },
    });
    return audited(row as typeof row & Words, entryOf('execute', agent, { command, command_id: row.id }));
  });
}

/** The newest 50. @throws Refusal not_found */
export const listCommands = (ctx: Ctx, { id }: { id: string }) =>
  read(ctx, async (tx) => {
    const agent = await agentById(tx, ctx, id);
    const rows = await tx.agent_commands.findMany({
      where: { ...own(ctx), agent_id: agent.id },
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      take: SHOWN,
    });
    return wholeList(rows as ((typeof rows)[number] & Words)[]);
  });
