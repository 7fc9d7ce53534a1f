import { parseAsArrayOf, parseAsBoolean, parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { OUTCOMES, spanStart } from '#server/domain/request-logs/span.shared.ts';

export const RANGES = { '15m': 15, '1h': 60, '24h': 1_440, '7d': 10_080, '30d': 43_200 } as const;
export type RangeName = keyof typeof RANGES;

/** What the address of the log page holds; the page reads it on the server, the view in the browser. */
export const logSearch = {
  range: parseAsStringLiteral(['15m', '1h', '24h', '7d', '30d']).withDefault('24h'),
  from: parseAsString,
  to: parseAsString,
  q: parseAsString.withDefault(''),
  status: parseAsString,
  method: parseAsString,
  route_id: parseAsString,
  collection_id: parseAsString,
  client_id: parseAsString,
  api_key_id: parseAsString,
  environment: parseAsString,
  origin: parseAsStringLiteral(['upstream', 'service']),
  error: parseAsString,
  limited: parseAsBoolean,
  slower: parseAsInteger,
  ip: parseAsString,
  outcome: parseAsStringLiteral(OUTCOMES),
  mode: parseAsStringLiteral(['route', 'ephemeral', 'wrap_gateway', 'test', 'inbound']),
  sort: parseAsStringLiteral(['ts', 'latency_ms']).withDefault('ts'),
  peek: parseAsString,
  /** Calls marked for comparing; two of them are compared. */
  compare: parseAsArrayOf(parseAsString).withDefault([]),
};

export type LogSearch = {
  range: RangeName;
  from: string | null;
  to: string | null;
  q: string;
  status: string | null;
  method: string | null;
  route_id: string | null;
  collection_id: string | null;
  client_id: string | null;
  api_key_id: string | null;
  environment: string | null;
  origin: 'upstream' | 'service' | null;
  error: string | null;
  limited: boolean | null;
  slower: number | null;
  ip: string | null;
  outcome: (typeof OUTCOMES)[number] | null;
  /** `test`: calls of the Test tab of a route; they are in the log and in no figure. */
  mode: 'route' | 'ephemeral' | 'wrap_gateway' | 'test' | 'inbound' | null;
};

/** The order of the list, which no figure depends on; the newest first goes without saying. */
export const logOrder = ({ sort }: { sort: 'ts' | 'latency_ms' }) => (sort === 'ts' ? {} : { sort });

export const noFilters = {
  q: '',
  status: null,
  method: null,
  route_id: null,
  collection_id: null,
  client_id: null,
  api_key_id: null,
  environment: null,
  origin: null,
  error: null,
  limited: null,
  slower: null,
  ip: null,
  outcome: null,
  mode: null,
} as const;

const isTime = (text: string | null): text is string => text !== null && !Number.isNaN(Date.parse(text));

/**
 * The time span of an address. The default, the last 24 hours, is left to the server, so that the page's first answer has the same key on both
 * sides; other spans end at `now`, which the view moves only when asked.
 */
export function spanOf({ range, from, to }: Pick<LogSearch, 'range' | 'from' | 'to'>, now: number): { from?: string; to?: string } {
  if (isTime(from) || isTime(to))
    return { ...(isTime(from) ? { from: new Date(from).toISOString() } : {}), ...(isTime(to) ? { to: new Date(to).toISOString() } : {}) };
  return range === '24h' ? {} : { from: spanStart(now, RANGES[range] * 60_000).toISOString() };
}

/** The filters of an address as the list and the export take them. */
export function logFilters(search: LogSearch) {
  const {
    q,
    status,
    method,
    route_id,
    collection_id,
    client_id,
    api_key_id,
    environment,
    origin,
    error,
    limited,
    slower,
    ip,
    outcome,
    mode,
  } = search;
  return {
    ...(q ? { q } : {}),
    ...statusFilter(status),
    ...(method ? { method: method.toUpperCase() } : {}),
    ...(route_id ? { route_id } : {}),
    ...(collection_id ? { collection_id } : {}),
    ...(client_id ? { client_id } : {}),
    ...(api_key_id ? { api_key_id } : {}),
    ...(environment ? { environment } : {}),
    ...(origin ? { origin } : {}),
    ...(error ? { error } : {}),
    ...(limited ? { rate_limited: true } : {}),
    ...(slower === null ? {} : { min_latency_ms: slower }),
    ...(ip ? { src_ip: ip } : {}),
    ...(outcome ? { outcome } : {}),
    ...(mode ? { proxy_mode: mode } : {}),
  };
}
export type LogFilters = ReturnType<typeof logFilters>;

/** `404` is one code, `4xx` a class; anything else filters nothing. */
function statusFilter(status: string | null): { status?: number; status_class?: '2xx' | '3xx' | '4xx' | '5xx' } {
  if (status && /^[1-5]\d\d$/.test(status)) return { status: Number(status) };
  return status && /^[2-5]xx$/.test(status) ? { status_class: status as '2xx' | '3xx' | '4xx' | '5xx' } : {};
}

/** What the histogram can filter by. */
export const statsFilters = ({
  route_id,
  collection_id,
  environment,
  client_id,
  api_key_id,
  status,
}: Pick<LogSearch, 'route_id' | 'collection_id' | 'environment' | 'client_id' | 'api_key_id' | 'status'>) => ({
  ...statusFilter(status),
  ...(route_id ? { route_id } : {}),
  ...(collection_id ? { collection_id } : {}),
  ...(environment ? { environment } : {}),
  // A call counts for its client and for its key, in figures of their own: one of the two at a time.
  ...(client_id ? { client_id } : api_key_id ? { api_key_id } : {}),
});

export const PAGE_SIZE = 100;
