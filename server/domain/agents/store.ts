import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { advanceClock } from '#server/kernel/precondition.ts';
import type { AgentMode } from './modes.shared.ts';

/** A row of the table, in which the schema keeps the words. */
export type AgentRecord = Omit<Prisma.agentsGetPayload<object>, 'mode' | 'status'> & { mode: AgentMode; status: 'active' | 'revoked' };

/** @throws Refusal not_found */
export async function agentById(tx: Tx, ctx: Ctx, id: string): Promise<AgentRecord> {
  const row = isUuid(id) ? await tx.agents.findFirst({ where: { ...own(ctx), id: id.toLowerCase() } }) : null;
  if (!row) throw notFound();
  return row as AgentRecord;
}

/** The same, holding the row until the transaction ends. @throws Refusal not_found */
export async function lockedAgent(tx: Tx, ctx: Ctx, id: string): Promise<AgentRecord> {
  const found = await agentById(tx, ctx, id);
  await tx.$queryRaw`select 1 from agents where id = ${found.id}::uuid for no key update`;
  const row = await agentById(tx, ctx, found.id);
  advanceClock(ctx, row);
  return row;
}

/** A person's id; null for machines. */
export const personOf = ({ actor }: Ctx): string | null => (actor.type === 'member' ? actor.id : null);

export const entryOf = (action: string, { id, name }: Pick<AgentRecord, 'id' | 'name'>, details?: Record<string, unknown>): AuditEntry => ({
  ...{ action, resource_type: 'agent', resource_id: id, name },
  ...(details === undefined ? {} : { details }),
});
