import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { AlertState, AlertType, Condition, Severity } from './conditions.shared.ts';

type Stored = NonNullable<Awaited<ReturnType<Tx['alerts']['findFirst']>>>;
export type AlertRow = Omit<Stored, 'type' | 'condition' | 'severity' | 'state'> & {
  type: AlertType;
  condition: Condition;
  severity: Severity;
  state: AlertState;
};

/** @throws Refusal not_found */
export async function alertById(tx: Tx, ctx: Ctx, id: string): Promise<AlertRow> {
  const row = isUuid(id) ? await tx.alerts.findFirst({ where: { ...own(ctx), id } }) : null;
  if (!row) throw notFound();
  return row as AlertRow;
}

export async function lockedAlert(tx: Tx, ctx: Ctx, id: string): Promise<AlertRow> {
  if (isUuid(id)) await tx.$queryRaw`select 1 from alerts where id = ${id}::uuid and tenant_id = ${ctx.tenant_id}::uuid for update`;
  return alertById(tx, ctx, id);
}

/** Open incidents by alert. */
export async function openIncidents(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.alert_incidents.groupBy({
    by: ['alert_id'],
    where: { ...own(ctx), alert_id: { in: [...ids] }, resolved_at: null },
    _count: true,
  });
  return new Map(rows.map(({ alert_id, _count }) => [alert_id, _count]));
}
