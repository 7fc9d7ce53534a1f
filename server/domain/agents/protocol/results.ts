import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { AgentCaller } from './caller.ts';
import type { CommandResult, ReportTamper } from './schema.ts';
import { noteTamper } from './tampering.ts';

/** Members of an output that would hold a value. A scan tells where a credential is, its first four characters and a digest's beginning. */
const VALUES = new Set(['value', 'secret', 'password', 'token', 'plaintext', 'credential', 'content', 'line', 'match']);

/** What came of a command. @throws Refusal not_found, conflict, validation_error for an output that may hold a value */
export async function commandResult(
  ctx: Ctx,
  agent: AgentCaller,
  id: string,
  { ok, output = null, error = null }: z.output<typeof CommandResult>,
) {
  const found = memberWithValue(output);
  if (found !== null) throw invalid('output', `must not have the member ${found}: values stay on the host`);
  if (!isUuid(id)) throw notFound();
  await inTransaction(ctx, async (tx) => {
    const mine = { ...own(ctx), agent_id: agent.id, id: id.toLowerCase() };
    const { count } = await tx.agent_commands.updateMany({
      where: { ...mine, status: { in: ['queued', 'sent'] } },
      data: { status: ok ? 'succeeded' : 'failed', output: output as Prisma.InputJsonValue, error, finished_at: ctx.now },
    });
    if (count === 1) return;
    if ((await tx.agent_commands.count({ where: mine })) === 0) throw notFound();
    throw new Refusal('conflict', 'The result of this command is there already.');
  });
  return { ok: true };
}

function memberWithValue(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, child] of Object.entries(value)) {
    if (!Array.isArray(value) && VALUES.has(name.toLowerCase())) return name;
    const found = memberWithValue(child);
    if (found !== null) return found;
  }
  return null;
}

/** The agent received something that our key didn't sign. */
export async function reportTamper(ctx: Ctx, agent: AgentCaller, { kind }: z.output<typeof ReportTamper>) {
  await noteTamper(ctx, agent, { kind, action_taken: 'alerted', version: agent.version, build_sig: agent.build_sig });
  return { ok: true };
}
