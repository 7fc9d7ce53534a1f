import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { workflowRanAway, workflowScheduleUnreadable } from './letters.ts';
import { CHANNEL } from './schedules.ts';

/** Starts of one workflow in a minute, beyond which it is turned off (interface rule 62 §4.2). */
export const MOST_STARTS = 600;

const LETTERS = {
  runaway: { kind: 'workflow_runaway', write: workflowRanAway },
  invalid_definition: { kind: 'workflow_invalid', write: workflowScheduleUnreadable },
} as const;

/** Turns a workflow off that can't go on by itself, with its schedule and subscription. Owners and Admins are notified by mail. */
export async function disableWorkflow(ctx: Ctx, { id, name }: { id: string; name: string }, reason: keyof typeof LETTERS): Promise<void> {
  const mails = await mutate(ctx, async (tx) => {
    const { count } = await tx.workflows.updateMany({
      where: { ...own(ctx), id, enabled: true },
      data: { enabled: false, disabled_reason: reason, updated_at: ctx.now },
    });
    if (count === 0) return unchanged([]);
    await tx.workflow_schedules.deleteMany({ where: { ...own(ctx), workflow_id: id } });
    await tx.event_subscriptions.deleteMany({ where: { ...own(ctx), channel: CHANNEL, destination_id: id } });
    const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { name: true, slug: true } });
    const url = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${spaceOf(ctx.sandbox)}/workflows/${id}`;
    const { kind, write } = LETTERS[reason];
    const letter = write({ workspace: workspace.name, workflow: name, most: MOST_STARTS, url });
    const written = await postTeamMails(tx, { tenant_id: ctx.tenant_id, kind, to: ['owner', 'admin'], letter, now: ctx.now });
    return audited(written, { action: 'disable', resource_type: 'workflow', resource_id: id, name, details: { reason } });
  });
  for (const mail of mails) dispatch(ctx.db, mail);
}
