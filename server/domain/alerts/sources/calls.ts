import { NO_ROUTE } from '#server/domain/request-logs/service.ts';
import { sql } from '#server/platform/sql.ts';
import { type AlertType, type Condition, windowOf } from '../conditions.shared.ts';
import { addCell, type Cell, emptyCell, measure, onlyGrows } from '../measure.ts';
import { dateOf, type Findings, type Group, minuteOf, type Watched } from '../watched.ts';

// Alerts on calls. The minutes of each workspace and window length are read once for all alerts, summed by the database; single calls are counted only where
// those sums say that a condition may hold.

/**
 * What each alert finds in the window that ended with the last whole minute, and in the one that ends with the minute under way. Between two looks no window of
 * whole minutes is left out, however late in its minute a call was logged, up to a minute.
 */
export async function readCalls(alerts: readonly Watched[], now: Date): Promise<Findings> {
  if (alerts.length === 0) return new Map();
  const current = minuteOf(now);
  const spans = new Map<string, Span>();
  for (const { tenant_id, sandbox, type, condition } of alerts) {
    const window = windowOf(type, condition);
    const key = `${tenant_id} ${sandbox} ${window}`;
    const span = spans.get(key) ?? {
      i: spans.size,
      tenant_id,
      sandbox,
      first: dateOf(current - window),
      last: dateOf(current),
      slow: Number.POSITIVE_INFINITY,
    };
    if (type === 'high_latency') span.slow = Math.min(span.slow, condition.threshold_ms ?? 0);
    spans.set(key, span);
  }
  const rows = await sums([...spans.values()]);
  const spanOf = (alert: Watched) => spans.get(`${alert.tenant_id} ${alert.sandbox} ${windowOf(alert.type, alert.condition)}`) as Span;
  const looks = alerts.map((alert) => lookAt(alert, rows.get(spanOf(alert).i) ?? [], now));
  await countHits(looks, current);
  return new Map(looks.map(({ alert, groups }) => [alert.id, findingOf(alert, groups, now)]));
}

/** `slow`: the lowest threshold that alerts hold the duration of its calls against; infinite when none does. */
type Span = { i: number; tenant_id: string; sandbox: boolean; first: Date; last: Date; slow: number };
/** `part`: 0 for the first of the minutes, 2 for the one under way, 1 for those between. */
type Sum = { route_id: string; environment: string; status_class: number; part: 0 | 1 | 2 } & Cell;

async function sums(spans: readonly Span[]): Promise<Map<number, Sum[]>> {
  const { rows } = await sql().query<Omit<Sum, 'hits' | 'latency'> & { i: number }>(SUMS, [JSON.stringify(spans)]);
  const found = Map.groupBy(
    rows.map((row): Sum & { i: number } => ({ ...row, hits: 0, latency: null })),
    ({ i }) => i,
  );
  await addHistograms(spans, found);
  return found;
}

const FROM = `from jsonb_to_recordset($1::jsonb) as w(i int, tenant_id uuid, sandbox boolean, first timestamptz, last timestamptz, routes uuid[]) cross join lateral`;
const SUMS = `select w.i, r.* ${FROM} (
    select route_id, environment, status_class, (case minute when w.first then 0 when w.last then 2 else 1 end)::int as part,
      sum(count)::float8 as count, sum(errors)::float8 as errors, sum(rate_limited)::float8 as limited, max(latency_max) as longest
    from request_rollups where tenant_id = w.tenant_id and sandbox = w.sandbox and minute between w.first and w.last group by 1, 2, 3, 4) r`;

/**
 * Histograms cost the most, so they are read only for routes whose longest call reaches a threshold: no percentile of the others can. A longest call of 0 is
 * unknown.
 */
async function addHistograms(spans: readonly Span[], found: Map<number, Sum[]>): Promise<void> {
  const asked = spans.flatMap((span) => {
    if (span.slow === Number.POSITIVE_INFINITY) return [];
    const slow = (found.get(span.i) ?? []).filter(
      ({ part, count, longest }) => part !== 2 && count > 0 && (longest === 0 || longest >= span.slow),
    );
    return slow.length > 0 ? [{ ...span, routes: [...new Set(slow.map(({ route_id }) => route_id))] }] : [];
  });
  if (asked.length === 0) return;
  const { rows } = await sql().query<{ i: number; route_id: string; environment: string; latency: number[] }>(HISTOGRAMS, [
    JSON.stringify(asked),
  ]);
  for (const { i, route_id, environment, latency } of rows)
    found.get(i)?.push({ ...emptyCell(), route_id, environment, latency, status_class: 0, part: 1 });
}

/** Of whole minutes only. */
const HISTOGRAMS = `select w.i, r.* ${FROM} (
    select route_id, environment, array_agg(n order by bucket) as latency from (
      select route_id, environment, bucket, sum(x)::int as n from request_rollups, unnest(latency) with ordinality u(x, bucket)
      where tenant_id = w.tenant_id and sandbox = w.sandbox and minute >= w.first and minute < w.last and route_id = any(w.routes) group by 1, 2, 3) b group by 1, 2) r`;

/** The two windows of a route. `possible` is how many calls may be hits. */
type Look = { alert: Watched; groups: Map<string, { ended: Cell; running: Cell; possible: [ended: number, running: number] }> };

function lookAt(alert: Watched, rows: readonly Sum[], _now: Date): Look {
  const { type, condition, route_ids, environments } = alert;
  const groups: Look['groups'] = new Map();
  const together = type === 'no_traffic' && route_ids.length === 0;
  // A route without a call has no row: silence is noticed all the same.
  if (type === 'no_traffic') for (const key of together ? [''] : route_ids) groups.set(key, newGroup());
  const classes = new Set(condition.include_status_codes?.map((code) => Math.floor(code / 100)) ?? [4]);
  for (const row of rows) {
    if (route_ids.length > 0 && !route_ids.includes(row.route_id)) continue;
    if (environments.length > 0 && !environments.includes(row.environment)) continue;
    const key = together ? '' : row.route_id;
    const group = groups.get(key) ?? newGroup();
    groups.set(key, group);
    const hits = classes.has(row.status_class) ? row.count : 0;
    if (row.part !== 2) {
      addCell(group.ended, row);
      group.possible[0] += hits;
    }
    if (row.part !== 0) {
      addCell(group.running, row);
      group.possible[1] += hits;
    }
  }
  return { alert, groups };
}
const newGroup = () => ({ ended: emptyCell(), running: emptyCell(), possible: [0, 0] as [number, number] });

/** Types whose calls are counted one by one, where there are enough that could count. */
const countsHits = (type: AlertType): boolean => type === 'request_failures' || type === 'unauthorized_client';

async function countHits(looks: readonly Look[], current: number): Promise<void> {
  const wanted: { cell: Cell; ask: object }[] = [];
  for (const { alert, groups } of looks) {
    if (!countsHits(alert.type)) continue;
    const window = windowOf(alert.type, alert.condition);
    for (const [key, { ended, running, possible }] of groups)
      for (const [i, cell] of [ended, running].entries())
        if ((possible[i] ?? 0) >= (alert.condition.threshold ?? 1)) {
          const last = current - 1 + i;
          wanted.push({ cell, ask: { i: wanted.length, ...askOf(alert, key, last - window + 1, last) } });
        }
  }
  if (wanted.length === 0) return;
  const { rows } = await sql().query<{ i: number; n: number }>(HITS, [JSON.stringify(wanted.map(({ ask }) => ask))]);
  for (const { i, n } of rows) (wanted[i] as (typeof wanted)[0]).cell.hits = n;
}

/** The calls of a group from one minute to another, both included, that its type counts. */
export const askOf = (
  { tenant_id, sandbox, type, condition, environments }: Pick<Watched, 'tenant_id' | 'sandbox' | 'type' | 'condition' | 'environments'>,
  key: string,
  first: number,
  last: number,
) => ({
  ...{ tenant_id, sandbox, route_id: key === '' ? null : key, environments: environments.length > 0 ? environments : null },
  ...{ from: dateOf(first), to: dateOf(last + 1), ...hitsOf(type, condition) },
});

const REFUSED_CLIENTS = ['client_not_authorized', 'ip_not_allowed'];
/** `failures`: all that count are in the indexes of failures. */
const hitsOf = (type: AlertType, { include_status_codes: codes = [] }: Condition) =>
  type === 'unauthorized_client'
    ? { codes: null, errors: REFUSED_CLIENTS, failures: true }
    : { codes: type === 'request_failures' ? codes : null, errors: null, failures: codes.every((code) => code >= 500) };

/** More are not told apart: a condition can't ask for more within a window, and a peak of so many says enough. */
const MOST_HITS = 10_000;
const MATCHES = `l.tenant_id = w.tenant_id and l.sandbox = w.sandbox and l.ts >= w."from" and l.ts < w."to" and l.proxy_mode is distinct from 'test'
  and (w.route_id is null or coalesce(l.route_id, '${NO_ROUTE}') = w.route_id) and (w.environments is null or coalesce(l.environment, '') = any(w.environments))
  and (w.codes is null or l.status_code = any(w.codes)) and (w.errors is null or l.error = any(w.errors))`;
/** Written so that the partial indexes of failures serve it. */
const FAILURES = '(l.error is not null or (l.error is null and l.status_code >= 500))';
const ASKED = `jsonb_to_recordset($1::jsonb) as w(i int, tenant_id uuid, sandbox boolean, route_id uuid, environments text[], "from" timestamptz, "to" timestamptz, codes int[],
  errors text[], failures boolean)`;
const counting = (more: string) =>
  `(select count(*)::int from (select from request_logs l where ${MATCHES} and ${more} limit ${MOST_HITS}) c)`;
const HITS = `select w.i, case when w.failures then ${counting(FAILURES)} else ${counting('true')} end as n from ${ASKED}`;

function findingOf({ type, condition, watching_since }: Watched, groups: Look['groups'], now: Date) {
  const found: Group[] = [];
  let data = type !== 'error_rate' && type !== 'high_latency';
  // Silence before anybody listened is no news.
  const young = type === 'no_traffic' && now.getTime() - watching_since.getTime() < windowOf(type, condition) * 60_000;
  for (const [key, { ended, running }] of groups) {
    data ||= ended.count > 0;
    const looks = [measure(type, condition, ended), ...(onlyGrows(type) ? [measure(type, condition, running)] : [])];
    const values = looks.flatMap(({ value }) => value ?? []);
    if (values.length === 0) continue;
    const holds = !young && looks.some((look) => look.holds);
    found.push({ key, route_id: key === '' || key === NO_ROUTE ? null : key, value: Math.max(...values), holds });
  }
  return { groups: found, data };
}

const SAMPLES = 5;

/** The latest calls of each group that made its condition hold, in the order given, for incidents to show. One query for each type. */
export async function sampleCalls(asked: readonly { alert: Watched; key: string }[], now: Date): Promise<string[][]> {
  const current = minuteOf(now);
  const samples = asked.map((): string[] => []);
  const asks = asked.map(({ alert, key }, i) => ({
    ...askOf(alert, key, current - windowOf(alert.type, alert.condition), current),
    ...{ i, type: alert.type, threshold_ms: alert.condition.threshold_ms ?? 0 },
  }));
  for (const [type, ofType] of Map.groupBy(asks, (ask) => ask.type)) {
    const more = CALLS_OF[type];
    if (!more) continue;
    const { rows } = await sql().query<{ i: number; request_id: string }>(
      `select w.i, s.request_id from ${ASKED.replace('failures boolean', 'failures boolean, threshold_ms int')} cross join lateral (
         select l.request_id from request_logs l where ${MATCHES} and ${more} order by l.ts desc, l.id desc limit ${SAMPLES}) s`,
      [JSON.stringify(ofType)],
    );
    for (const { i, request_id } of rows) samples[i]?.push(request_id);
  }
  return samples;
}

/** The calls that count, by type. Silence has none. */
const CALLS_OF: Partial<Record<AlertType, string>> = {
  request_failures: 'true',
  unauthorized_client: FAILURES,
  error_rate: FAILURES,
  rate_limit_exceeded: 'l.rate_limited',
  high_latency: 'l.latency_ms >= w.threshold_ms',
};

type Narrowed = Pick<Watched, 'tenant_id' | 'sandbox' | 'type' | 'condition' | 'route_ids' | 'environments'>;

/** The calls of each group by the minute, both minutes included, for lines and for what an alert would have done. */
export async function callsByMinute(alert: Narrowed, first: number, last: number): Promise<Map<string, Map<number, Cell>>> {
  const { tenant_id, sandbox, type, route_ids, environments } = alert;
  const together = type === 'no_traffic' && route_ids.length === 0;
  const groups = new Map<string, Map<number, Cell>>();
  if (type === 'no_traffic') for (const key of together ? [''] : route_ids) groups.set(key, new Map());
  const cellOf = (route: string, minute: number): Cell => {
    const key = together ? '' : route;
    const group = groups.get(key) ?? new Map<number, Cell>();
    groups.set(key, group);
    const cell = group.get(minute) ?? emptyCell();
    group.set(minute, cell);
    return cell;
  };
  const { rows } = await sql().query<{ minute: Date; route_id: string; latency: number[] | null } & Omit<Cell, 'hits' | 'latency'>>(
    `select minute, route_id, count::float8 as count, errors::float8 as errors, rate_limited::float8 as limited, latency_max as longest,
       ${type === 'high_latency' ? 'latency' : 'null as latency'}
     from request_rollups where tenant_id = $1 and sandbox = $2 and minute between $3 and $4
       and ($5::uuid[] is null or route_id = any($5)) and ($6::text[] is null or environment = any($6))`,
    [tenant_id, sandbox, dateOf(first), dateOf(last), orNull(route_ids), orNull(environments)],
  );
  for (const { minute, route_id, ...calls } of rows) addCell(cellOf(route_id, minuteOf(minute)), { ...calls, hits: 0 });
  if (!countsHits(type)) return groups;
  const ask = askOf(alert, '', first, last);
  const { rows: hits } = await sql().query<{ minute: Date; route_id: string; n: number }>(
    `select date_trunc('minute', l.ts) as minute, coalesce(l.route_id, '${NO_ROUTE}') as route_id, count(*)::int as n
     from ${ASKED} join request_logs l on ${MATCHES} and ${ask.failures ? FAILURES : 'true'} and ($2::uuid[] is null or l.route_id = any($2)) group by 1, 2`,
    [JSON.stringify([{ i: 0, ...ask }]), orNull(route_ids)],
  );
  for (const { minute, route_id, n } of hits) cellOf(route_id, minuteOf(minute)).hits += n;
  return groups;
}

const orNull = <T>(list: readonly T[]): readonly T[] | null => (list.length > 0 ? list : null);
