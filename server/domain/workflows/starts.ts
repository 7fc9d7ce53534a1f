import { allOf, storedAuthority } from '#server/domain/authorities/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type Definition, type ExecutionTrigger, graphOf } from './definition.shared.ts';
import { disableWorkflow, MOST_STARTS } from './disabling.ts';
import { enqueueExecution, type TriggerOutput } from './engine/executions.ts';

// Starts that nobody asked for by hand: schedules and events. What can't be started is counted, and a workflow that starts too often is turned off.

export type LiveWorkflow = {
  id: string;
  name: string;
  version: number;
  definition: unknown;
  environment: string | null;
  timeout_seconds: number | null;
  authority: unknown;
};
export type AutomaticStart = { id: string; trigger_type: ExecutionTrigger; input: TriggerOutput; chain?: readonly string[]; label: string };

/** Starts an execution of the live version; of the same ID once. @returns false when it was not started */
export async function startAutomatically(ctx: Ctx, workflow: LiveWorkflow, { id, label, ...start }: AutomaticStart): Promise<boolean> {
  try {
    const outcome = await inTransaction(ctx, async (tx) => {
      if (await tx.workflow_executions.findFirst({ where: { ...own(ctx), id }, select: { id: true } })) return 'started';
      if ((await startsLately(tx, ctx, workflow.id)) >= MOST_STARTS) return 'runaway';
      const definition: Definition = graphOf(workflow.definition);
      const triggered_by = { type: 'system', id: null, label };
      const authorities = allOf(storedAuthority(workflow.authority));
      await enqueueExecution(tx, ctx, { ...start, id, workflow, version: workflow.version, definition, triggered_by, authorities });
      return 'started';
    });
    if (outcome === 'runaway') await disableWorkflow(ctx, workflow, 'runaway');
    return outcome === 'started';
  } catch (error) {
    if (!(error instanceof Refusal) || error.type !== 'rate_limited') throw error;
    await inTransaction(ctx, (tx) => countDropped(tx, workflow.id));
    return false;
  }
}

const countDropped = (tx: Tx, id: string) => tx.$executeRaw`update workflows set dropped_count = dropped_count + 1 where id = ${id}::uuid`;

async function startsLately(tx: Tx, ctx: Ctx, id: string): Promise<number> {
  const [row] = await tx.$queryRaw<{ n: number }[]>`
    select count(*)::int as n from (select from workflow_executions where workflow_id = ${id}::uuid and created_at > ${ctx.now}::timestamptz - interval '1 minute' limit ${MOST_STARTS}) s`;
  return row?.n ?? 0;
}
