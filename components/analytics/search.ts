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

/** What every figure of the page is asked for: the span and the filters. */
export function askedOf(search: Pick<AnalyticsSearch, 'range' | 'from' | 'to' | 'route_id' | 'environment'>, now: number) {
  const { route_id, environment } = search;
  return { ...spanOf(search, now), ...(route_id ? { route_id } : {}), ...(environment ? { environment } : {}) };
}

/** The explorer's question. */
export const questionOf = (search: AnalyticsSearch, now: number) => ({
  ...askedOf(search, now),
  metric: search.metric,
  ...(search.by.length > 0 ? { group_by: search.by.slice(0, 2) } : {}),
  ...(search.interval === 'auto' ? {} : { interval: search.interval }),
});
