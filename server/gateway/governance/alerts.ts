import type { PoolClient } from 'pg';
import { type Alert, alertEvents } from '#server/domain/ai-spend/alert-events.shared.ts';
import { log } from '#server/platform/log.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { insertEvent } from '../core/events.ts';

export type { Alert } from '#server/domain/ai-spend/alert-events.shared.ts';

/** Raises the events of alerts that were just given, in the background. What fails is raised by the job that looks for alerts without their event. */
export function raiseAlerts(alerts: readonly Alert[]): void {
  const [first] = alerts;
  if (!first) return;
  inOwnTransaction(first, (client) => raiseEach(client, alerts)).catch((error: unknown) =>
    log.warn({ err: error, alerts: alerts.length }, 'budget alerts were not raised at once; a job raises them'),
  );
}

async function raiseEach(client: PoolClient, alerts: readonly Alert[]): Promise<void> {
  for (const alert of alerts) {
    const { rowCount } = await client.query('update ai_alerts set raised_at = now() where id = $1 and raised_at is null', [alert.id]);
    if (rowCount === 0) continue;
    for (const event of alertEvents(alert)) await insertEvent(client, event);
  }
}
