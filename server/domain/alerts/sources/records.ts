import { sql } from '#server/platform/sql.ts';
import { type AlertType, type Condition, windowOf } from '../conditions.shared.ts';
import { dateOf, type Findings, minuteOf, type Watched } from '../watched.ts';

/** The action of a reveal of plaintext, whatever was revealed. */
const REVEAL = 'plaintext.reveal';

/** What an alert counts in the audit log. */
export const entriesOf = (type: AlertType, { action_prefix = '', resource_type = '' }: Condition) =>
  type === 'reveal_spike'
    ? { action: REVEAL, prefix: null, resource_type: null }
    : { action: null, prefix: action_prefix === '' ? null : action_prefix, resource_type: resource_type === '' ? null : resource_type };

const ASKED = `jsonb_to_recordset($1::jsonb) as w(i int, tenant_id uuid, sandbox boolean, first timestamptz, last timestamptz, action text, prefix text, resource_type text)`;
/** An equality for each, so that the log's index of it is used. */
export const MATCHES = `a.tenant_id = w.tenant_id and a.sandbox = w.sandbox and (w.action is null or a.action = w.action)
  and (w.resource_type is null or a.resource_type = w.resource_type) and (w.prefix is null or starts_with(a.action, w.prefix))`;

/** Alerts on the audit log: reveals, and entries of any kind. Counted over the two windows that those on calls look at. */
export async function readRecords(alerts: readonly Watched[], now: Date): Promise<Findings> {
  if (alerts.length === 0) return new Map();
  const current = minuteOf(now);
  const asked = alerts.map(({ tenant_id, sandbox, type, condition }, i) => ({
    ...{ i, tenant_id, sandbox, first: dateOf(current - windowOf(type, condition)), last: dateOf(current), ...entriesOf(type, condition) },
  }));
  const { rows } = await sql().query<{ i: number; first: number; middle: number; last: number }>(
    `select w.i, n.* from ${ASKED} cross join lateral (
       select count(*) filter (where a.created_at < w.first + interval '1 minute')::int as first, count(*) filter (where a.created_at >= w.last)::int as last,
         count(*) filter (where a.created_at >= w.first + interval '1 minute' and a.created_at < w.last)::int as middle
       from audit_logs a where ${MATCHES} and a.created_at >= w.first and a.created_at < w.last + interval '1 minute') n`,
    [JSON.stringify(asked)],
  );
  return new Map(
    rows.map(({ i, first, middle, last }) => {
      const { id, type, condition } = alerts[i] as Watched;
      const value = Math.max(first + middle, middle + last);
      return [
        id,
        {
          groups: [{ key: '', subject: null, value, holds: value >= (type === 'audit_match' ? 1 : (condition.threshold ?? 1)) }],
          data: true,
        },
      ];
    }),
  );
}

/** Entries by the minute, for what an alert would have done. */
export async function entriesByMinute(
  { tenant_id, sandbox }: { tenant_id: string; sandbox: boolean },
  type: AlertType,
  condition: Condition,
  { from, to }: { from: Date; to: Date },
): Promise<Map<number, number>> {
  const { rows } = await sql().query<{ minute: Date; n: number }>(
    `select date_trunc('minute', a.created_at) as minute, count(*)::int as n from ${ASKED} join audit_logs a on ${MATCHES}
       and a.created_at >= w.first and a.created_at < w.last group by 1`,
    [JSON.stringify([{ i: 0, tenant_id, sandbox, first: from, last: to, ...entriesOf(type, condition) }])],
  );
  return new Map(rows.map(({ minute, n }) => [minuteOf(minute), n]));
}
