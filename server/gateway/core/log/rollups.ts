import type { PoolClient } from 'pg';
import { emptyBuckets, NO_ROUTE } from '#server/domain/request-logs/buckets.ts';
import { addingMinutes, OF_CALLERS, OF_ROUTES } from '#server/domain/request-logs/rollups.ts';
import { ADD_TOTALS } from '#server/domain/request-logs/totals.ts';
import type { Tally } from './tally.ts';

// Counts that are kept because summing rows would be too slow: minutes of routes, minutes of callers, totals of routes, and days of everything
// that takes part in a call. Each statement adds to what is there, in the order of its key, always, so that two writers never wait in a circle.

/** Adds a batch to all counts, inside the client's transaction. */
export async function writeRollups(client: PoolClient, tallies: readonly Tally[]): Promise<void> {
  const ofRoutes = tallies.map((calls) => ({ calls }));
  await client.query({ name: 'log-rollup', text: ADD_ROUTES, values: [minutes(ofRoutes)] });
  const ofCallers = tallies.flatMap((calls) => callersOf(calls).map((caller_id) => ({ calls, caller_id })));
  if (ofCallers.length > 0) await client.query({ name: 'log-caller-rollup', text: ADD_CALLERS, values: [minutes(ofCallers)] });
  const rows = totals(tallies);
  if (rows.length > 0) await client.query({ name: 'log-route-totals', text: ADD_TOTALS, values: [JSON.stringify(rows)] });
  await client.query({ name: 'log-day-counts', text: DAYS, values: [JSON.stringify(days(tallies))] });
}

// --- minutes -----------------------------------------------------------------------------------------------------------------------

const ADD_ROUTES = addingMinutes(OF_ROUTES, true);
const ADD_CALLERS = addingMinutes(OF_CALLERS, false);

type Part = { calls: Tally; caller_id?: string };

/** Calls of one minute that are alike in what rollups know together, and of one caller where one is named: JSON as the statements take it. */
function minutes(parts: readonly Part[]): string {
  const groups = new Map<string, ReturnType<typeof noCalls>>();
  for (const { calls, caller_id } of parts) {
    const where = `${calls.tenant_id} ${calls.sandbox} ${caller_id} ${calls.minute} ${calls.route_id}`;
    const key = `${where} ${calls.status_class} ${calls.method} ${calls.origin} ${calls.plane} ${calls.error} ${calls.environment}`;
    const sum = groups.get(key) ?? noCalls(calls, caller_id);
    groups.set(key, sum);
    addTo(sum, calls);
  }
  return JSON.stringify(
    Array.from(groups.values(), (sum) => ({
      ...sum,
      latency: `{${sum.latency}}`,
      upstream: `{${sum.upstream}}`,
      overhead: `{${sum.overhead}}`,
    })),
  );
}

const noCalls = (calls: Tally, caller_id: string | undefined) => ({
  tenant_id: calls.tenant_id,
  sandbox: calls.sandbox,
  caller_id,
  minute: `${calls.minute}:00Z`,
  route_id: calls.route_id,
  environment: calls.environment,
  status_class: calls.status_class,
  method: calls.method,
  origin: calls.origin,
  plane: calls.plane,
  error: calls.error,
  count: 0,
  trials: 0,
  errors: 0,
  rate_limited: 0,
  bytes_in: 0,
  bytes_out: 0,
  latency_sum: 0,
  overhead_sum: 0,
  latency: emptyBuckets(),
  upstream: emptyBuckets(),
  overhead: emptyBuckets(),
  latency_max: 0,
  upstream_max: 0,
  overhead_max: 0,
});

function addTo(sum: ReturnType<typeof noCalls>, calls: Tally): void {
  if (calls.test) {
    sum.trials += calls.count;
    return;
  }
  sum.count += calls.count;
  sum.errors += calls.errors;
  sum.rate_limited += calls.rate_limited;
  sum.bytes_in += calls.bytes_in;
  sum.bytes_out += calls.bytes_out;
  sum.latency_sum += calls.latency_sum;
  sum.overhead_sum += calls.overhead_sum;
  sum.latency_max = Math.max(sum.latency_max, calls.latency_max);
  sum.upstream_max = Math.max(sum.upstream_max, calls.upstream_max);
  sum.overhead_max = Math.max(sum.overhead_max, calls.overhead_max);
  for (let i = 0; i < sum.latency.length; i++) {
    sum.latency[i] = (sum.latency[i] ?? 0) + (calls.latency[i] ?? 0);
    sum.upstream[i] = (sum.upstream[i] ?? 0) + (calls.upstream[i] ?? 0);
    sum.overhead[i] = (sum.overhead[i] ?? 0) + (calls.overhead[i] ?? 0);
  }
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

type Share = { kind: string; ref_id?: string; name?: string };

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

const partsOf = ({ route_id, environment, api_key_id, client_id, secrets, test }: Tally): Share[] => [
  ...(test ? [] : [{ kind: 'route', ref_id: route_id }]),
  ...(environment && !test ? [{ kind: 'environment', name: environment }] : []),
  ...(api_key_id ? [{ kind: 'api_key', ref_id: api_key_id }] : []),
  ...(client_id ? [{ kind: 'client', ref_id: client_id }] : []),
  ...secrets.map((name) => ({ kind: 'secret', name })),
];
