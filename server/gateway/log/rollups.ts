import type { PoolClient } from 'pg';
import { NO_ROUTE } from '#server/domain/request-logs/buckets.ts';
import { ADD_TOTALS } from '#server/domain/request-logs/totals.ts';
import type { Tally } from './tally.ts';

// Counts that are kept because summing rows would be too slow: minutes of routes, minutes of callers, totals of routes, and days of everything
// that takes part in a call. Each statement adds to what is there, in the order of its key, always, so that two writers never wait in a circle.

/** Adds a batch to all counts, inside the client's transaction. */
export async function writeRollups(client: PoolClient, tallies: readonly Tally[]): Promise<void> {
  await client.query({ name: 'log-rollup', text: MINUTES, values: [JSON.stringify(minutes(tallies.map((calls) => ({ calls }))))] });
  const byCaller = tallies.flatMap((calls) => callersOf(calls).map((caller_id) => ({ calls, caller_id })));
  if (byCaller.length > 0)
    await client.query({ name: 'log-caller-rollup', text: CALLER_MINUTES, values: [JSON.stringify(minutes(byCaller))] });
  const ofRoutes = totals(tallies);
  if (ofRoutes.length > 0) await client.query({ name: 'log-route-totals', text: ADD_TOTALS, values: [JSON.stringify(ofRoutes)] });
  await client.query({ name: 'log-day-counts', text: DAYS, values: [JSON.stringify(days(tallies))] });
}

// --- minutes -----------------------------------------------------------------------------------------------------------------------

const minuteStatement = (table: string, key: Record<string, string>, counts: readonly string[]) => {
  const by = Object.keys(key).join(', ');
  const names = [...counts, 'latency', 'upstream'].join(', ');
  return `insert into ${table} as r (${by}, ${names})
  select ${by}, ${names}
  from jsonb_to_recordset($1::jsonb) as d(${Object.entries(key)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')}, ${counts.map((name) => `${name} bigint`).join(', ')}, latency int[], upstream int[])
  order by ${by}
  on conflict (${by}) do update set
    ${counts.map((name) => `${name} = r.${name} + excluded.${name}`).join(', ')},
    latency = (select array_agg(coalesce(a, 0) + coalesce(b, 0) order by i) from unnest(r.latency, excluded.latency) with ordinality as t(a, b, i)),
    upstream = (select array_agg(coalesce(a, 0) + coalesce(b, 0) order by i) from unnest(r.upstream, excluded.upstream) with ordinality as t(a, b, i))`;
};
const SPACE = { tenant_id: 'uuid', sandbox: 'boolean' };
const CALLS = { route_id: 'uuid', environment: 'text', status_class: 'int' };
const COUNTS = ['count', 'errors', 'rate_limited', 'bytes_in', 'bytes_out'] as const;
// Nobody's key makes a trial: callers have none.
const MINUTES = minuteStatement('request_rollups', { ...SPACE, minute: 'timestamptz', ...CALLS }, [...COUNTS, 'trials']);
const CALLER_MINUTES = minuteStatement('caller_rollups', { ...SPACE, caller_id: 'uuid', minute: 'timestamptz', ...CALLS }, COUNTS);

/** Calls of one minute, route, environment and class together, and of one caller where one is named. */
function minutes(parts: readonly { calls: Tally; caller_id?: string }[]) {
  const groups = Map.groupBy(parts, ({ calls, caller_id }) =>
    [calls.tenant_id, calls.sandbox, caller_id, calls.minute, calls.route_id, calls.environment, calls.status_class].join('\n'),
  );
  return [...groups.values()].map((group) => {
    const { calls: first, caller_id } = group[0] as (typeof parts)[number];
    const all = group.map(({ calls }) => calls);
    const real = all.filter(({ trial }) => !trial);
    const sum = (of: (calls: Tally) => number, over = real) => over.reduce((total, calls) => total + of(calls), 0);
    return {
      tenant_id: first.tenant_id,
      sandbox: first.sandbox,
      caller_id,
      minute: `${first.minute}:00Z`,
      route_id: first.route_id,
      environment: first.environment,
      status_class: first.status_class,
      count: sum((calls) => calls.count),
      trials: sum(
        (calls) => calls.count,
        all.filter(({ trial }) => trial),
      ),
      errors: sum((calls) => calls.errors),
      rate_limited: sum((calls) => calls.rate_limited),
      bytes_in: sum((calls) => calls.bytes_in),
      bytes_out: sum((calls) => calls.bytes_out),
      latency: first.latency.map((_, i) => sum(({ latency }) => latency[i] ?? 0)),
      upstream: first.upstream.map((_, i) => sum(({ upstream }) => upstream[i] ?? 0)),
    };
  });
}

/** The key of a call and the client it was matched to: the call counts for each. */
const callersOf = ({ api_key_id, client_id }: Tally): string[] => [api_key_id, client_id].filter((id) => id !== null);

// --- totals ------------------------------------------------------------------------------------------------------------------------

const totals = (tallies: readonly Tally[]) =>
  tallies.flatMap(({ tenant_id, sandbox, route_id, environment, kinds }) =>
    route_id === NO_ROUTE
      ? []
      : kinds.map(({ status_code, method, count }) => ({ tenant_id, sandbox, route_id, environment, status_code, method, n: count })),
  );

// --- days --------------------------------------------------------------------------------------------------------------------------

/**
 * Secrets and environments are known to the log by name; here they are counted under their ids, so that a rename keeps their past and a new
 * one with an old name starts at none.
 */
const DAYS = `insert into call_days as c (tenant_id, sandbox, kind, ref_id, day, calls, errors, counted, last_at)
  select d.tenant_id, d.sandbox, d.kind, coalesce(s.id, e.id, d.ref_id), d.day, sum(d.calls), sum(d.errors), sum(d.counted), max(d.last_at)
  from jsonb_to_recordset($1::jsonb) as d(tenant_id uuid, sandbox boolean, kind text, ref_id uuid, name text, day date, calls bigint, errors bigint, counted bigint, last_at timestamptz)
  left join secrets s on d.kind = 'secret' and s.tenant_id = d.tenant_id and s.sandbox = d.sandbox and s.name = d.name
  left join environments e on d.kind = 'environment' and e.tenant_id = d.tenant_id and e.sandbox = d.sandbox and e.name = d.name
  where coalesce(s.id, e.id, d.ref_id) is not null
  group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (tenant_id, sandbox, kind, ref_id, day) do update set calls = c.calls + excluded.calls, errors = c.errors + excluded.errors,
    counted = c.counted + excluded.counted, last_at = greatest(c.last_at, excluded.last_at)`;

type Part = { kind: string; ref_id?: string; name?: string };

/** One entry for each tally and each thing that took part in its calls; the statement adds them up. */
const days = (tallies: readonly Tally[]) =>
  tallies.flatMap((calls) =>
    partsOf(calls).map((part) => ({
      tenant_id: calls.tenant_id,
      sandbox: calls.sandbox,
      ...part,
      day: calls.minute.slice(0, 10),
      calls: calls.count,
      errors: calls.errors,
      counted: calls.counted,
      last_at: calls.last_at,
    })),
  );

const partsOf = ({ route_id, environment, api_key_id, client_id, secrets, trial }: Tally): Part[] => [
  ...(trial ? [] : [{ kind: 'route', ref_id: route_id }]),
  ...(environment && !trial ? [{ kind: 'environment', name: environment }] : []),
  ...(api_key_id ? [{ kind: 'api_key', ref_id: api_key_id }] : []),
  ...(client_id ? [{ kind: 'client', ref_id: client_id }] : []),
  ...secrets.map((name) => ({ kind: 'secret', name })),
];
