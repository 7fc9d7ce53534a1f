import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { isOfRequests, thresholdOf, windowOf } from './conditions.shared.ts';
import { simulate } from './simulation.ts';
import { callsByMinute } from './sources/calls.ts';
import type { AlertRow } from './store.ts';
import { dateOf, minuteOf } from './watched.ts';

const MINUTES = 60;
/** A list shows so many at once; the others say their state alone. */
const MOST = 50;

/** What each alert on calls measured in the last hour: of each minute the worst of its routes. */
export async function sparklinesOf(ctx: Ctx) {
  const rows = (await read(ctx, (tx) =>
    tx.alerts.findMany({ where: { ...own(ctx), enabled: true }, orderBy: [{ name: 'asc' }, { id: 'asc' }] }),
  )) as AlertRow[];
  const last = minuteOf(ctx.now) - 1;
  const span = { first: last - MINUTES + 1, last };
  const lines = [];
  for (const alert of rows.filter(({ type }) => isOfRequests(type)).slice(0, MOST)) {
    const groups = await callsByMinute(alert, span.first - windowOf(alert.type, alert.condition), last);
    const values = [...groups].map(([key, cells]) => simulate(key, alert, cells, span).values);
    const worst = alert.type === 'no_traffic' ? Math.min : Math.max;
    lines.push({
      alert_id: alert.id,
      threshold: thresholdOf(alert.type, alert.condition),
      from: dateOf(span.first),
      values: Array.from({ length: MINUTES }, (_, i) => {
        const found = values.flatMap((group) => group.get(span.first + i) ?? []);
        return found.length === 0 ? null : worst(...found);
      }),
    });
  }
  return lines;
}
