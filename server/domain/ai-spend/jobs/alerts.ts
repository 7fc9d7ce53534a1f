import { raise } from '#server/domain/events/service.ts';
import type { Db } from '#server/kernel/database.ts';
import { sql } from '#server/platform/sql.ts';
import { type Alert, type AlertKind, alertEvents } from '../alert-events.shared.ts';

/** What gateways raise at once is left to them. */
const GRACE_MS = 5_000;
const BATCH = 200;

/** Raises the events of alerts whose gateway did not: it was killed, or away from the database. @returns alerts raised */
export async function raiseWaitingAlerts(db: Db, now: Date): Promise<number> {
  const { rows } = await sql().query<Alert>(
    `select * from ai_alerts where raised_at is null and created_at < $1 order by created_at limit ${BATCH}`,
    [new Date(now.getTime() - GRACE_MS)],
  );
  let raised = 0;
  for (const alert of rows) if (await raiseOne(db, alert, now)) raised++;
  return raised;
}

const raiseOne = (db: Db, alert: Alert, now: Date): Promise<boolean> =>
  db.$transaction(async (tx) => {
    const { count } = await tx.ai_alerts.updateMany({ where: { id: alert.id, raised_at: null }, data: { raised_at: now } });
    if (count === 0) return false;
    const { tenant_id, sandbox } = alert;
    for (const { type, source_id, data, occurred_at } of alertEvents(alert))
      await raise(tx, { tenant_id, sandbox, now: occurred_at }, [{ type, source_id, data }]);
    return true;
  });

const quoted = (kind: AlertKind) => `'${kind}'`;

const WINDOW_MS = 5 * 60_000;
const LEAST_CALLS = 20;

/**
 * Gives an alert for agents of whose calls in the last five minutes more than half failed at their provider, of at least 20: once an hour. Only calls
 * that were sent to a provider count: a missing secret, say, is no failure of the provider.
 * @returns alerts given
 */
export async function noticeFailingUpstreams(now: Date): Promise<number> {
  const { rowCount } = await sql().query(
    `insert into ai_alerts (tenant_id, sandbox, kind, subject_type, subject_id, period, period_start, threshold, data, created_at)
      select tenant_id, sandbox, ${quoted('upstream')}, 'agent', agent_id::text, 'hour', date_trunc('hour', $1::timestamptz at time zone 'UTC') at time zone 'UTC', 50,
        jsonb_build_object('calls', count(*), 'failed', count(*) filter (where failed), 'error_rate', round(avg(failed::int), 3), 'window_seconds', ${WINDOW_MS / 1_000}), $1
      from (select tenant_id, sandbox, agent_id, status in ('upstream_error', 'stream_failed') as failed from ai_request_logs
        where ts >= $2 and ts <= $1 and agent_id is not null and status <> 'refused' and attempts > 0) c
      group by tenant_id, sandbox, agent_id having count(*) >= ${LEAST_CALLS} and avg(failed::int) > 0.5
      on conflict do nothing`,
    [now, new Date(now.getTime() - WINDOW_MS)],
  );
  return rowCount ?? 0;
}

/** Gives an alert for models without a price, or whose tier has none, that agents called in the last five minutes while a budget in USD applied: once a day for each. @returns alerts given */
export async function noticeUnpricedModels(now: Date): Promise<number> {
  const { rowCount } = await sql().query(
    `insert into ai_alerts (tenant_id, sandbox, kind, subject_type, subject_id, period, period_start, threshold, data, created_at)
      select tenant_id, sandbox, ${quoted('unpriced')}, 'agent', agent_id || ' ' || provider || ' ' || final_model, 'day',
        date_trunc('day', $1::timestamptz at time zone 'UTC') at time zone 'UTC', 0, jsonb_build_object('provider', provider, 'model', final_model), $1
      from ai_request_logs
      where ts >= $2 and ts <= $1 and agent_id is not null and provider is not null and final_model is not null and warnings && '{unpriced_model,unpriced_tier}'
      group by tenant_id, sandbox, agent_id, provider, final_model
      on conflict do nothing`,
    [now, new Date(now.getTime() - WINDOW_MS)],
  );
  return rowCount ?? 0;
}
