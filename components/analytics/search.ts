import { parseAsArrayOf, parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { type RangeName, spanOf } from '#components/logs/list-search.ts';
import {
  DIMENSIONS,
  type Dimension,
  INTERVALS,
  type Interval,
  METRICS,
  type Metric,
} from '#server/domain/request-logs/analytics/words.shared.ts';

/** What the address of the page holds; saved reports are such addresses. */
export const analyticsSearch = {
  view: parseAsStringLiteral(['overview', 'explorer']).withDefault('overview'),
  metric: parseAsStringLiteral(METRICS).withDefault('requests'),
  by: parseAsArrayOf(parseAsStringLiteral(DIMENSIONS)).withDefault([]),
  interval: parseAsStringLiteral(['auto', ...(Object.keys(INTERVALS) as Interval[])]).withDefault('auto'),
  range: parseAsStringLiteral(['15m', '1h', '24h', '7d', '30d']).withDefault('24h'),
  from: parseAsString,
  to: parseAsString,
  route_id: parseAsString,
  environment: parseAsString,
};

export type AnalyticsSearch = {
  view: 'overview' | 'explorer';
  metric: Metric;
  by: Dimension[];
  interval: 'auto' | Interval;
  range: RangeName;
  from: string | null;
  to: string | null;
  route_id: string | null;
  environment: string | null;
};

/** Which calls figures are of, as an address of the log says it too. */
export type Of = { route_id?: string | null; environment?: string | null; client_id?: string; api_key_id?: string };
export type Asked = Pick<AnalyticsSearch, 'range' | 'from' | 'to'> & Of;

export function filtersIn({ route_id, environment, client_id, api_key_id }: Of): { [name in keyof Of]?: string } {
  return {
    ...(route_id ? { route_id } : {}),
    ...(environment ? { environment } : {}),
    ...(client_id ? { client_id } : {}),
    ...(api_key_id ? { api_key_id } : {}),
  };
}

/** What every figure of a view is asked for: the span and the filters. */
export const askedOf = (search: Asked, now: number) => ({ ...spanOf(search, now), ...filtersIn(search) });

/** The explorer's question. */
export const questionOf = (search: AnalyticsSearch, now: number) => ({
  ...askedOf(search, now),
  metric: search.metric,
  ...(search.by.length > 0 ? { group_by: search.by.slice(0, 2) } : {}),
  ...(search.interval === 'auto' ? {} : { interval: search.interval }),
});
