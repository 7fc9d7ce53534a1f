// Calls added up by the minute, of each route and of each caller; the writer does it in the transaction of the rows. Minutes that are over are added up
// again, by the quarter of an hour and by six hours: see downsampling.ts.

/** `by` names the key and its types. */
export type Rollup = { minutes: string; quarters: string; blocks: string; by: Readonly<Record<string, string>>; counts: readonly string[] };

const SPACE = { tenant_id: 'uuid', sandbox: 'boolean' };
const CALLS = { route_id: 'uuid', environment: 'text', status_class: 'int', method: 'text', origin: 'text', plane: 'text', error: 'text' };
const COUNTS = ['count', 'errors', 'rate_limited', 'bytes_in', 'bytes_out', 'latency_sum', 'overhead_sum'];
export const HISTOGRAMS = ['latency', 'upstream', 'overhead'];
/** The longest duration in each histogram, which caps its percentiles. */
export const MAXIMA = ['latency_max', 'upstream_max', 'overhead_max'];

/** Methods that are told apart; a caller may send any word, and each would be a row of its own. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'];
/** What the others are counted as. */
export const OTHER_METHOD = 'OTHER';

export const OF_ROUTES: Rollup = {
  minutes: 'request_rollups',
  quarters: 'request_quarters',
  blocks: 'request_blocks',
  by: { ...SPACE, minute: 'timestamptz', ...CALLS },
  counts: [...COUNTS, 'trials'],
};
/** Nobody's key makes a trial: callers have none. */
export const OF_CALLERS: Rollup = {
  minutes: 'caller_rollups',
  quarters: 'caller_quarters',
  blocks: 'caller_blocks',
  by: { ...SPACE, caller_id: 'uuid', minute: 'timestamptz', ...CALLS },
  counts: COUNTS,
};
export const ROLLUPS = [OF_ROUTES, OF_CALLERS];

/** Milliseconds; both begin where the epoch's do. */
export const QUARTER = 15 * 60_000;
export const BLOCK = 6 * 3_600_000;

/** Minutes after which a call that is written is late. Half an hour's streams are; what is written within it finds its quarter open. */
export const LATE_MINUTES = 5;

/**
 * Adds `$1`, a JSON list of minutes in which no key is twice, in the order of the key, so that two writers never wait in a circle. Histograms come as array
 * literals: a JSON array is converted number by number. With `marks` the quarters of late minutes are marked as not what their minutes add up to.
 */
export function addingMinutes({ minutes, by, counts }: Rollup, marks: boolean): string {
  const keys = Object.keys(by).join(', ');
  const values = [...counts, ...HISTOGRAMS, ...MAXIMA].join(', ');
  const types = [
    ...Object.entries(by),
    ...counts.map((name) => [name, 'bigint']),
    ...HISTOGRAMS.map((name) => [name, 'int[]']),
    ...MAXIMA.map((name) => [name, 'int']),
  ];
  const late = `, late as (insert into late_quarters (tenant_id, sandbox, quarter)
      select distinct tenant_id, sandbox, date_bin('15 minutes', minute, 'epoch') from d where minute < statement_timestamp() - interval '${LATE_MINUTES} minutes')`;
  return `with d as materialized (select * from jsonb_to_recordset($1::jsonb) as d(${types.map((pair) => pair.join(' ')).join(', ')}))${marks ? late : ''}
    insert into ${minutes} as r (${keys}, ${values}) select ${keys}, ${values} from d order by ${keys}
    on conflict (${keys}) do update set ${counts.map((name) => `${name} = r.${name} + excluded.${name}`).join(', ')},
      ${MAXIMA.map((name) => `${name} = greatest(r.${name}, excluded.${name})`).join(', ')},
      ${HISTOGRAMS.map((name) => `${name} = (select array_agg(coalesce(a, 0) + coalesce(b, 0) order by i) from unnest(r.${name}, excluded.${name}) with ordinality as t(a, b, i))`).join(', ')}`;
}
