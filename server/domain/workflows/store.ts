import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { columnJson, jsonOfColumn } from '#server/kernel/lossless-json.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';

/** A row whose `definition` and `draft` are opened. */
export type WorkflowRow = Prisma.workflowsGetPayload<object>;

/** A row with its definitions as they were given: the database may have them as text. */
export const opened = <T extends { definition?: unknown; draft?: unknown }>(row: T): T => ({
  ...row,
  ...(row.definition === undefined ? {} : { definition: jsonOfColumn(row.definition) }),
  ...(row.draft === undefined ? {} : { draft: jsonOfColumn(row.draft) }),
});

/** @throws Refusal not_found */
export async function workflowById(tx: Tx, ctx: Ctx, id: string): Promise<WorkflowRow> {
  const row = isUuid(id) ? await tx.workflows.findFirst({ where: { ...own(ctx), id: id.toLowerCase() } }) : null;
  if (!row) throw notFound();
  return opened(row);
}

/** The same, holding the row until the transaction ends. */
export async function lockedWorkflow(tx: Tx, ctx: Ctx, id: string): Promise<WorkflowRow> {
  const found = await workflowById(tx, ctx, id);
  await tx.$queryRaw`select 1 from workflows where id = ${found.id}::uuid for no key update`;
  return workflowById(tx, ctx, found.id);
}

export const entryOf = (action: string, { id, name }: Pick<WorkflowRow, 'id' | 'name'>, details?: Record<string, unknown>): AuditEntry => ({
  ...{ action, resource_type: 'workflow', resource_id: id, name },
  ...(details === undefined ? {} : { details }),
});

/** A person's id; null for machines. */
export const personOf = ({ actor }: Ctx): string | null => (actor.type === 'member' ? actor.id : null);

/** A definition as Prisma takes it. */
export const jsonOf = (definition: unknown): Prisma.InputJsonValue => columnJson(definition) as Prisma.InputJsonValue;
