import { type Log, outcomeOf } from './call-kind.ts';
import type { LogFilters } from './list-search.ts';

/** Whether a call that arrived live belongs into the list as it is filtered; the same rules as the list's own query. */
export function matchesLive(log: Log, filters: LogFilters, inCollection?: ReadonlySet<string>): boolean {
  const {
    q,
    status,
    status_class,
    method,
    route_id,
    collection_id,
    client_id,
    api_key_id,
    environment,
    origin,
    error,
    rate_limited,
    min_latency_ms,
    src_ip,
    outcome,
    proxy_mode,
  } = filters;
  if (status !== undefined && log.status_code !== status) return false;
  if (status_class !== undefined && Math.floor((log.status_code ?? 0) / 100) !== Number(status_class[0])) return false;
  if (method !== undefined && log.method !== method) return false;
  if (route_id !== undefined && log.route_id !== route_id) return false;
  // A collection is known by its routes; until those are there, no call can be told to be one of its calls.
  if (collection_id !== undefined && !(log.route_id !== null && inCollection?.has(log.route_id))) return false;
  if (client_id !== undefined && log.matched_client_id !== client_id) return false;
  if (api_key_id !== undefined && log.api_key_id !== api_key_id) return false;
  if (environment !== undefined && log.environment !== environment) return false;
  if (origin !== undefined && log.origin !== origin) return false;
  if (error !== undefined && log.error !== error) return false;
  if (rate_limited !== undefined && (log.rate_limited ?? false) !== rate_limited) return false;
  if (min_latency_ms !== undefined && (log.latency_ms ?? 0) < min_latency_ms) return false;
  // A range is judged by the database; live, only a single address can be compared without a table of ranges.
  if (src_ip !== undefined && (src_ip.includes('/') || log.src_ip !== src_ip)) return false;
  if (outcome !== undefined && !(outcome === 'failed' ? outcomeOf(log) !== 'ok' : outcomeOf(log) === outcome)) return false;
  if (proxy_mode !== undefined && log.proxy_mode !== proxy_mode) return false;
  if (q !== undefined && log.request_id !== q && !(log.path ?? '').toLowerCase().includes(q.toLowerCase())) return false;
  return true;
}
