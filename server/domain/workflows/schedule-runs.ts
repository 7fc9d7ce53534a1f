import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import type { Db } from '#server/kernel/tx.ts';
import { log } from '#server/platform/log.ts';
import { TERMINAL_STATUSES, triggerTypeOf } from './definition.shared.ts';
import { disableWorkflow } from './disabling.ts';
import { uuidOf } from './nodes/email.ts';
import { nextOf, type Schedule, scheduleOf } from './schedules.ts';
import { startAutomatically } from './starts.ts';
import { opened } from './store.ts';

type Due = { workflow_id: string; tenant_id: string; sandbox: boolean; next_fire_at: Date };
const BATCH = 100;
const MINUTE = 60_000;

/**
 * Starts every workflow whose time has come. After a time without workers each starts once, not once for each time it missed (interface rule 62 §5). One that
 * can't be started holds up no other. @returns how many were started
 */
export async function startScheduled(db: Db, now: Date): Promise<number> {
  const due = await db.$queryRaw<Due[]>`
    select workflow_id, tenant_id, sandbox, next_fire_at from workflow_schedules where next_fire_at <= ${now} order by next_fire_at limit ${BATCH}`;
  let started = 0;
  for (const one of due) {
    const ctx = systemContext(db, { ...one, now, label: 'schedule' });
    try {
      if (await fire(ctx, one)) started++;
    } catch (error) {
      log.error({ err: error, workflow_id: one.workflow_id }, 'a scheduled workflow could not be started');
    }
  }
  return started;
}

const fire = (ctx: Ctx, { workflow_id: id, next_fire_at }: Due): Promise<boolean> =>
  inTransaction(ctx, async (tx) => {
    // Another worker may have had this turn.
    const [row] = await tx.$queryRaw<{ last_fire_at: Date | null; overlap: string }[]>`
      select last_fire_at, overlap from workflow_schedules where workflow_id = ${id}::uuid and next_fire_at = ${next_fire_at} for update skip locked`;
    if (!row) return false;
    const found = await tx.workflows.findFirst({ where: { ...own(ctx), id, enabled: true } });
    const workflow = found && opened(found);
    const schedule = workflow && scheduleOf(workflow.definition);
    const next = schedule && following(schedule, next_fire_at, ctx.now);
    if (workflow && !next && triggerTypeOf(workflow.definition) === 'schedule') {
      await disableWorkflow({ ...ctx, tx }, workflow, 'invalid_definition');
      return false;
    }
    if (!workflow || !next) {
      await tx.workflow_schedules.deleteMany({ where: { ...own(ctx), workflow_id: id } });
      return false;
    }
    await tx.workflow_schedules.update({
      where: { workflow_id: id },
      data: { next_fire_at: next, last_fire_at: next_fire_at },
      select: { workflow_id: true },
    });
    const open = { ...own(ctx), workflow_id: id, trigger_type: 'schedule', status: { notIn: [...TERMINAL_STATUSES] } };
    if (row.overlap === 'skip' && (await tx.workflow_executions.count({ where: open })) > 0) return false;
    const data = { scheduled_at: next_fire_at.toISOString(), previous_at: row.last_fire_at?.toISOString() ?? null };
    return startAutomatically({ ...ctx, tx }, workflow, {
      ...{ id: uuidOf(`workflow ${id} at ${data.scheduled_at}`), trigger_type: 'schedule', label: 'schedule' },
      input: { type: 'schedule', data, timestamp: ctx.now.toISOString() },
    });
  });

/** Every so many minutes keeps its rhythm, whatever was missed. */
function following(schedule: Schedule, last: Date, now: Date): Date | null {
  if (schedule.every === null) return nextOf(schedule, now);
  const step = schedule.every * MINUTE;
  return new Date(last.getTime() + step * (Math.floor((now.getTime() - last.getTime()) / step) + 1));
}
