import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { entryFor } from '../audit-entries.ts';
import { addStep, changesBetween, type PlanBuilder, type Step, stepOf } from '../plan-builder.ts';

/** Environments are matched by name; which one is the default is each space's own affair. */
export function planEnvironments(builder: PlanBuilder): void {
  for (const name of builder.source.served) {
    const row = builder.source.environments.get(name);
    if (!row) continue;
    const match = builder.target.environments.get(name) ?? null;
    const settings = ({ display_name, description, color }: typeof row) => ({ display_name, description, color });
    const changes = match ? changesBetween(settings(match), settings(row)) : [];
    addStep(builder, stepOf(builder, 'environment', row, match, { changes }));
  }
}

export async function applyEnvironments(
  tx: Tx,
  ctx: Ctx,
  { source }: PlanBuilder,
  steps: readonly Step[],
  run: string,
): Promise<AuditEntry[]> {
  const rows = new Map([...source.environments.values()].map((row) => [row.id, row]));
  for (const step of steps) {
    const row = rows.get(step.id);
    if (!row) continue;
    const { name, display_name, description, color } = row;
    const data = { display_name, description, color, updated_at: ctx.now };
    if (step.exists) await tx.environments.update({ where: { id: step.there, ...own(ctx) }, data, select: { id: true } });
    else await tx.environments.create({ data: { ...own(ctx), ...data, id: step.there, name, created_at: ctx.now }, select: { id: true } });
  }
  return steps.map((step) => entryFor(step, run));
}
