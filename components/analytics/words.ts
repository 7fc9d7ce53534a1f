import { exactMillis, grouped, millis, short } from '#components/ui/numbers.ts';
import type { Dimension, Interval, Metric } from '#server/domain/request-logs/analytics/words.shared.ts';

type Words = { label: string; figure: (value: number) => string; short: (value: number) => string; lowerIsBetter: boolean };

const count = { figure: (value: number) => grouped(value), short };
const duration = { figure: (value: number) => millis(value), short: (value: number) => millis(value), lowerIsBetter: true };
const average = { figure: exactMillis, short: exactMillis, lowerIsBetter: true };
const percent = (value: number) => `${value < 10 ? value.toFixed(value === 0 ? 0 : 1) : Math.round(value).toString()}%`;
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];
const bytes = (value: number): string => {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  const scaled = value / 1000 ** power;
  return `${scaled < 10 && power > 0 ? scaled.toFixed(1) : Math.round(scaled).toString()}\u00a0${UNITS[power] ?? ''}`;
};

export const metricWords: Record<Metric, Words> = {
  requests: { label: 'Calls', ...count, lowerIsBetter: false },
  errors: { label: 'Failed calls', ...count, lowerIsBetter: true },
  error_rate: { label: 'Error rate', figure: percent, short: percent, lowerIsBetter: true },
  latency_avg: { label: 'Latency, average', ...average },
  p50: { label: 'Latency, p50', ...duration },
  p95: { label: 'Latency, p95', ...duration },
  p99: { label: 'Latency, p99', ...duration },
  overhead_avg: { label: 'Gateway overhead, average', ...average },
  overhead_p95: { label: 'Gateway overhead, p95', ...duration },
  rate_limited: { label: 'Rate limited', ...count, lowerIsBetter: true },
  bytes: { label: 'Bytes in and out', figure: bytes, short: bytes, lowerIsBetter: false },
  unique_clients: { label: 'Unique clients', ...count, lowerIsBetter: false },
};

/** `filter` is the word of the log's address; a dimension without one can't be followed there. */
export const dimensionWords: Record<Dimension, { label: string; none: string; filter: string }> = {
  route: { label: 'Route', none: 'No route', filter: 'route_id' },
  environment: { label: 'Environment', none: 'No environment', filter: 'environment' },
  client: { label: 'Client', none: 'No client', filter: 'client_id' },
  api_key: { label: 'API key', none: 'No key', filter: 'api_key_id' },
  status_class: { label: 'Status class', none: 'Disconnected', filter: 'status' },
  method: { label: 'Method', none: 'No method', filter: 'method' },
  origin: { label: 'Answered by', none: 'Nobody', filter: 'origin' },
  plane: { label: 'Plane', none: 'Unknown', filter: 'mode' },
  error: { label: 'Error', none: 'No error', filter: 'error' },
};

export const intervalWords: Record<'auto' | Interval, string> = {
  auto: 'Automatic',
  '1m': '1 minute',
  '5m': '5 minutes',
  '15m': '15 minutes',
  '1h': '1 hour',
  '6h': '6 hours',
  '1d': '1 day',
};

type Part = { dimension: Dimension; value: string | null; name: string | null };

/** What a part of a series is called. What was deleted has an ID and no name. */
export function partText({ dimension, value, name }: Part): string {
  if (value === null) return dimensionWords[dimension].none;
  if (name !== null) return name;
  if (dimension === 'status_class') return value === '0' ? 'Disconnected' : `${value}xx`;
  if (dimension === 'origin') return value === 'service' ? 'Sallyport' : 'Upstream';
  if (dimension === 'plane') return { route: 'Routes', ephemeral: 'Ephemeral proxy', wrap_gateway: 'Wrapped SDKs' }[value] ?? value;
  return dimension === 'route' || dimension === 'client' || dimension === 'api_key'
    ? `Deleted (${value.slice(0, 8)})`
    : value || dimensionWords[dimension].none;
}

export const seriesText = (key: readonly Part[]): string => (key.length === 0 ? 'All calls' : key.map(partText).join(', '));

/** The log's filters that list the calls of a series; undefined where the log can't be filtered by "none". */
export function filtersOf(key: readonly Part[]): Record<string, string> | undefined {
  // Methods that are counted as one name are many in the log.
  if (key.some(({ dimension, value }) => value === null || value === '' || (dimension === 'method' && value === 'OTHER'))) return undefined;
  return Object.fromEntries(
    key.map(({ dimension, value }) => [
      dimensionWords[dimension].filter,
      dimension === 'status_class' ? `${value ?? ''}xx` : (value ?? ''),
    ]),
  );
}
