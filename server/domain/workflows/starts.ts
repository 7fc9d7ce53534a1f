import { allOf, storedAuthority } from '#server/domain/authorities/service.ts';
import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { type Definition, type ExecutionTrigger, graphOf } from './definition.shared.ts';
import { enqueueExecution, type TriggerOutput } from './engine/executions.ts';
import { workflowRanAway } from './letters.ts';
import { CHANNEL } from './schedules.ts';

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

/** Starts of one workflow in a minute, beyond which it is turned off (interface rule 62 §4.2). */
const MOST_STARTS = 600;

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
    if (outcome === 'runaway') await disableRunaway(ctx, workflow);
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

/** Turns it off, with its schedule and subscription; Owners and Admins are told by mail. */
async function disableRunaway(ctx: Ctx, { id, name }: LiveWorkflow): Promise<void> {
  const mails = await mutate(ctx, async (tx) => {
    const { count } = await tx.workflows.updateMany({
      where: { ...own(ctx), id, enabled: true },
      data: { enabled: false, disabled_reason: 'runaway', updated_at: ctx.now },
    });
    if (count === 0) return unchanged([]);
    await tx.workflow_schedules.deleteMany({ where: { ...own(ctx), workflow_id: id } });
    await tx.event_subscriptions.deleteMany({ where: { ...own(ctx), channel: CHANNEL, destination_id: id } });
    const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
    const url = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${spaceOf(ctx.sandbox)}/workflows/${id}`;
    const letter = workflowRanAway({ workspace: workspace.name, workflow: name, most: MOST_STARTS, url });
    const written = await postTeamMails(tx, {
      tenant_id: ctx.tenant_id,
      kind: 'workflow_runaway',
      to: ['owner', 'admin'],
      letter,
      now: ctx.now,
    });
    return audited(written, { action: 'disable', resource_type: 'workflow', resource_id: id, name, details: { reason: 'runaway' } });
  });
  for (const mail of mails) dispatch(ctx.db, mail);
}
