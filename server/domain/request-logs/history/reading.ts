import type { LeafRow } from '#server/crypto/merkle.ts';
import { clickHouseRows } from '#server/platform/clickhouse.ts';
import { type LogFilters, UUID } from '../filters.ts';
import type { LogFields, LogPlace } from '../store.ts';
import type { Past } from './past.ts';
import { COLUMNS } from './table.ts';

// Calls in ClickHouse. A statement is made by `callsOf` or not at all: it puts workspace and space in, and callers add conditions whose values are bound.

type Type = 'String' | 'UUID' | 'Array(UUID)' | 'Bool' | 'UInt64' | 'Int64' | 'UInt32';
type Bind = (type: Type, value: unknown) => string;
type Shape = {
  columns: string;
  where?: (bind: Bind) => readonly (string | null)[];
  rest?: (bind: Bind) => string;
};

/** A SELECT of one space, as text and values. Rows that were copied twice count once (FINAL). */
function callsOf(past: Past, { columns, where = () => [], rest = () => '' }: Shape) {
  const bound: Record<string, unknown> = {};
  let n = 0;
  const bind: Bind = (type, value) => {
    const name = `v${n++}`;
    bound[name] = value;
    return `{${name}:${type}}`;
  };
  const own = [
    `tenant_id = ${bind('UUID', past.tenant_id)} and test = ${bind('Bool', past.sandbox)}`,
    `id <= ${bind('UInt64', String(past.cut))} and ts >= ${at(bind, past.kept_from)}`,
  ];
  const conditions = [...own, ...where(bind).filter((one) => one !== null)];
  return { text: `select ${columns} from ${past.store} final where ${conditions.join(' and ')} ${rest(bind)}`, bound };
}

type Calls = ReturnType<typeof callsOf>;
const found = <Row>({ text, bound }: Calls, around: (calls: string) => string = (calls) => calls) =>
  clickHouseRows<Row>(around(`(${text})`), bound);

const at = (bind: Bind, when: Date | string | number) =>
  `fromUnixTimestamp64Milli(${bind('Int64', String(new Date(when).getTime()))}, 'UTC')`;

/** The same as `matching` (filters.ts) says over request_logs. */
const matching = (f: LogFilters) => (bind: Bind) => [
  f.from === undefined ? null : `ts >= ${at(bind, f.from)}`,
  f.to === undefined ? null : `ts <= ${at(bind, f.to)}`,
  f.status === undefined ? null : `status_code = ${bind('UInt32', f.status)}`,
  f.status_class === undefined
    ? null
    : `status_code between ${bind('UInt32', f.status_class * 100)} and ${bind('UInt32', f.status_class * 100 + 99)}`,
  f.method === undefined ? null : `method = ${bind('String', f.method.toUpperCase())}`,
  f.route_id === undefined ? null : `route_id = ${bind('UUID', f.route_id)}`,
  f.route_ids === undefined ? null : `has(${bind('Array(UUID)', f.route_ids)}, route_id)`,
  f.client_id === undefined ? null : `matched_client_id = ${bind('UUID', f.client_id)}`,
  f.api_key_id === undefined ? null : `api_key_id = ${bind('UUID', f.api_key_id)}`,
  ...(['environment', 'proxy_mode', 'client_origin', 'origin', 'error'] as const).map((name) =>
    f[name] === undefined ? null : `${name} = ${bind('String', f[name])}`,
  ),
  f.outcome === undefined ? null : ENDED[f.outcome],
  f.rate_limited === undefined ? null : `rate_limited = ${bind('Bool', f.rate_limited)}`,
  f.min_latency_ms === undefined ? null : `latency_ms >= ${bind('UInt32', f.min_latency_ms)}`,
  f.src_ip === undefined ? null : inRange(bind, f.src_ip),
  f.q === undefined
    ? null
    : UUID.test(f.q)
      ? `request_id = ${bind('UUID', f.q)}`
      : `position(lowerUTF8(assumeNotNull(path)), lowerUTF8(${bind('String', f.q)})) > 0 and path is not null`,
];

const OUTCOME = `multiIf(error is null, if(ifNull(status_code, 0) >= 500, 'failed', 'ok'), startsWith(assumeNotNull(error), 'upstream_') or error = 'client_closed', 'failed', 'refused')`;
const ENDED = {
  ok: `error is null and ifNull(status_code, 0) < 500`,
  failed: `(error is not null or status_code >= 500)`,
  refused: `${OUTCOME} = 'refused'`,
};

/** What is no address is in no range. It is replaced before it is compared, because comparing it fails the whole statement. */
function inRange(bind: Bind, range: string): string {
  const prefix = range.includes('/') ? range : `${range}/${range.includes(':') ? 128 : 32}`;
  const isAddress = `(isIPv4String(ifNull(src_ip, '')) or isIPv6String(ifNull(src_ip, '')))`;
  return `${isAddress} and isIPAddressInRange(if(${isAddress}, assumeNotNull(src_ip), '::'), ${bind('String', prefix)})`;
}

/** What only the reader of one call gets. */
const OF_ONE = ['oauth_client_id', 'user_id', 'secrets_used', 'warnings', 'injected', 'error_detail', 'node_id', 'trace', 'payload_flags'];
const LISTED = Object.keys(COLUMNS).filter((name) => !['test', 'id', 'ts', ...OF_ONE].includes(name));
/** Under other names than the columns', which conditions and orders would otherwise take for these texts. */
const SHOWN = `toString(id) as id_text, toUnixTimestamp64Milli(ts) as ms, ${LISTED.join(', ')}`;

type Stored<Row extends LogFields> = Omit<Row, 'id' | 'ts'> & { id_text: string; ms: number };
const shown = <Row extends LogFields = LogFields>({ id_text, ms, ...row }: Stored<Row>) =>
  ({ ...row, id: id_text, ts: new Date(ms) }) as unknown as Row;

/** A call with all that readers of any kind may get. */
export type PastCall = LogFields & {
  oauth_client_id: string | null;
  user_id: string | null;
  secrets_used: string[];
  warnings: string[];
  injected: string[];
  error_detail: string | null;
  node_id: string | null;
  trace: unknown;
  payload_flags: number | null;
};

/** A page, as `browseRows` (store.ts) has it. */
export async function pastRows(
  past: Past,
  filters: LogFilters,
  { sort, order, limit, offset = 0, before }: LogPlace,
): Promise<LogFields[]> {
  const column = sort === 'ts' ? 'toUnixTimestamp64Milli(ts)' : 'toInt64(ifNull(latency_ms, 0))';
  const beside = (bind: Bind, place: { value: number; id: bigint }, sign: '<' | '>') =>
    `(${column}, id) ${sign} (${bind('Int64', String(place.value))}, ${bind('UInt64', String(place.id))})`;
  const beyond = order === 'asc' ? '>' : '<';
  const rows = await found<Stored<LogFields>>(
    callsOf(past, {
      columns: SHOWN,
      where: (bind) => [...matching(filters)(bind), before === undefined ? null : beside(bind, before, beyond)],
      rest: (bind) =>
        `order by ${sort === 'ts' ? 'ts' : column} ${order}, id ${order} limit ${bind('UInt64', String(limit))} offset ${bind('UInt64', String(offset))}`,
    }),
  );
  return rows.map((row) => shown(row));
}

/** How many calls pass, counted up to `most` if it is given. */
export async function pastCount(past: Past, filters: LogFilters, most?: number): Promise<number> {
  const calls = callsOf(past, {
    columns: most === undefined ? 'count() as n' : '1',
    where: matching(filters),
    rest: (bind) => (most === undefined ? '' : `limit ${bind('UInt64', String(most))}`),
  });
  const [row] = await found<{ n: number }>(calls, (text) => (most === undefined ? text : `select count() as n from ${text}`));
  return row?.n ?? 0;
}

/** What a call is told apart by in facets, as texts. */
const DIMENSIONS = {
  status_class: `concat(toString(intDiv(status_code, 100)), 'xx')`,
  method: 'toString(method)',
  route_id: 'toString(route_id)',
  environment: 'toString(environment)',
  client_id: 'toString(matched_client_id)',
  api_key_id: 'toString(api_key_id)',
  error: 'toString(error)',
  origin: 'toString(origin)',
  outcome: OUTCOME,
  proxy_mode: 'toString(proxy_mode)',
};
export type PastDimension = keyof typeof DIMENSIONS;

/** How the newest `most` calls spread over values; with how many they are under no dimension. */
export async function pastSpread(past: Past, filters: LogFilters, dimensions: readonly PastDimension[], most: number) {
  const pairs = dimensions.map((name) => `('${name}', toNullable(${DIMENSIONS[name]}))`).join(', ');
  const calls = callsOf(past, {
    columns: `[('', toNullable('')), ${pairs}] as pairs`,
    where: matching(filters),
    rest: (bind) => `order by ts desc, id desc limit ${bind('UInt64', String(most))}`,
  });
  return found<{ dimension: PastDimension | ''; value: string; n: number }>(
    calls,
    (text) =>
      `select pair.1 as dimension, assumeNotNull(pair.2) as value, count() as n from (select arrayJoin(pairs) as pair from ${text}) where pair.2 is not null group by dimension, value order by n desc, value`,
  );
}

/** The call of a request. */
export async function pastCall(past: Past, requestId: string): Promise<PastCall | undefined> {
  if (!UUID.test(requestId)) return undefined;
  const [row] = await found<Stored<PastCall>>(
    callsOf(past, {
      columns: `${SHOWN}, ${OF_ONE.join(', ')}`,
      where: (bind) => [`request_id = ${bind('UUID', requestId)}`],
      rest: () => 'order by ts desc limit 1',
    }),
  );
  return row && { ...shown<PastCall>(row), trace: typeof row.trace === 'string' ? JSON.parse(row.trace) : null };
}

const HOUR_OF_IDS = 3_600_000_000n << 11n;

/**
 * Calls after an ID, in order of IDs. The table is in order of time, which is nearly the same: IDs tell when a row was written. So a stretch of hours is read,
 * and a longer one while it has too few.
 */
export async function pastRowsAfter(past: Past, filters: LogFilters, after: bigint, limit: number): Promise<LogFields[]> {
  const first = after > 0n ? after : await firstId(past);
  for (let hours = 1n; ; hours *= 16n) {
    const end = first + hours * HOUR_OF_IDS;
    const rows = await found<Stored<LogFields>>(
      callsOf(past, {
        columns: SHOWN,
        where: (bind) => [
          ...matching(filters)(bind),
          `id > ${bind('UInt64', String(after))} and id <= ${bind('UInt64', String(end < past.cut ? end : past.cut))}`,
        ],
        rest: (bind) => `order by id limit ${bind('UInt64', String(limit))}`,
      }),
    );
    if (rows.length >= limit || end >= past.cut) return rows.map((row) => shown(row));
  }
}

async function firstId(past: Past): Promise<bigint> {
  const [row] = await found<{ first: string }>(callsOf(past, { columns: 'toString(min(id)) as first' }));
  return BigInt(row?.first ?? 0);
}

/** The fields of Merkle leaves of a range of IDs. */
export async function pastLeaves(past: Past, from: bigint, to: bigint, most: number): Promise<LeafRow[]> {
  const rows = await found<Stored<LogFields>>(
    callsOf(past, {
      columns: SHOWN,
      where: (bind) => [`id between ${bind('UInt64', String(from))} and ${bind('UInt64', String(to))}`],
      rest: (bind) => `order by id limit ${bind('UInt64', String(most))}`,
    }),
  );
  return rows.map((row) => shown(row));
}

/** Whether there is a call of this ID. */
export async function isInPast(past: Past, id: bigint): Promise<boolean> {
  const [row] = await found<{ n: number }>(
    callsOf(past, { columns: 'count() as n', where: (bind) => [`id = ${bind('UInt64', String(id))}`] }),
  );
  return (row?.n ?? 0) > 0;
}

export type PastTotal = { route_id: string; environment: string; status_code: number; method: string; n: number };

/** Calls from before a moment by what they are counted by (totals.ts). */
export async function pastTotals(past: Past, before: Date): Promise<PastTotal[]> {
  const rows = await found<{ r: string; e: string; s: number; m: string; n: number }>(
    callsOf(past, {
      columns: `toString(route_id) as r, if(ifNull(error, '') = 'environment_not_configured', '', ifNull(toString(environment), '')) as e,
        ifNull(status_code, 0) as s, ifNull(toString(method), '') as m, count() as n`,
      where: (bind) => [`ts < ${at(bind, before)} and route_id is not null`],
      rest: () => 'group by r, e, s, m',
    }),
  );
  return rows.map(({ r, e, s, m, n }) => ({ route_id: r, environment: e, status_code: s, method: m, n }));
}
