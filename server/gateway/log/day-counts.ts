import { NO_ROUTE } from '#server/domain/request-logs/schema.ts';
import type { LogRow } from './row.ts';

/**
 * Adds the calls of a batch to the days of what took part in them. Secrets and environments are known to the log by name; here they are
 * counted under their ids, so that a rename keeps their past and a new one with an old name starts at none. One order always, so that two
 * writers never wait for each other in a circle.
 */
export const DAY_COUNTS = `insert into call_days as c (tenant_id, sandbox, kind, ref_id, day, calls, errors, counted, last_at)
  select d.tenant_id, d.sandbox, d.kind, coalesce(s.id, e.id, d.ref_id), d.day, sum(d.calls), sum(d.errors), sum(d.counted), max(d.last_at)
  from jsonb_to_recordset($1::jsonb) as d(tenant_id uuid, sandbox boolean, kind text, ref_id uuid, name text, day date, calls bigint, errors bigint, counted bigint, last_at timestamptz)
  left join secrets s on d.kind = 'secret' and s.tenant_id = d.tenant_id and s.sandbox = d.sandbox and s.name = d.name
  left join environments e on d.kind = 'environment' and e.tenant_id = d.tenant_id and e.sandbox = d.sandbox and e.name = d.name
  where coalesce(s.id, e.id, d.ref_id) is not null
  group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (tenant_id, sandbox, kind, ref_id, day) do update set calls = c.calls + excluded.calls, errors = c.errors + excluded.errors,
    counted = c.counted + excluded.counted, last_at = greatest(c.last_at, excluded.last_at)`;

type Part = { kind: string; ref_id?: string; name?: string };

/** What the statement takes: one entry for each day and each thing that took part. */
export function dayCounts(rows: readonly LogRow[]) {
  const entries = rows.flatMap((row) => partsOf(row).map((part) => ({ row, part })));
  const groups = Map.groupBy(entries, ({ row, part }) =>
    [row.tenant_id, row.sandbox, row.ts.slice(0, 10), part.kind, part.ref_id ?? '', part.name ?? ''].join(' '),
  );
  return [...groups.values()].map((group) => {
    const { row, part } = group[0] as (typeof entries)[number];
    const count = (of: (row: LogRow) => boolean) => group.filter((entry) => of(entry.row)).length;
    return {
      tenant_id: row.tenant_id,
      sandbox: row.sandbox,
      ...part,
      day: row.ts.slice(0, 10),
      calls: group.length,
      errors: count(failed),
      counted: count(letThrough),
      last_at: group.reduce((last, entry) => (entry.row.ts > last ? entry.row.ts : last), ''),
    };
  });
}

const partsOf = (row: LogRow): Part[] => [
  { kind: 'route', ref_id: row.route_id ?? NO_ROUTE },
  ...(row.environment && row.error !== 'environment_not_configured' ? [{ kind: 'environment', name: row.environment }] : []),
  ...(row.api_key_id ? [{ kind: 'api_key', ref_id: row.api_key_id }] : []),
  ...(row.matched_client_id ? [{ kind: 'client', ref_id: row.matched_client_id }] : []),
  ...row.secrets_used.map((name) => ({ kind: 'secret', name })),
];

const failed = (row: LogRow): boolean => row.error !== null || (row.status_code ?? 0) >= 500;

const REFUSED_BY_LIMIT = new Set(['plan_limit', 'concurrency_limit_exceeded', 'route_rate_limit_exceeded', 'client_rate_limit_exceeded']);

/** Whether the plan's counter took the call: it came past the limits (interface rule 20 §2). */
const letThrough = ({ trace, error }: LogRow): boolean =>
  // A row that waited on the disk is of an earlier release perhaps, and then has no phases.
  (trace as { phases_ms?: object } | null)?.phases_ms !== undefined &&
  'limit' in trace.phases_ms &&
  !(error !== null && REFUSED_BY_LIMIT.has(error));
