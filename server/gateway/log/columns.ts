import type { CopyColumn, CopyColumns } from './copy.ts';
import type { LogRow } from './row.ts';
import { traceText } from './trace.ts';

/** The columns of request_logs that a row brings, with their types. */
export const TYPES = {
  request_id: 'uuid',
  tenant_id: 'uuid',
  route_id: 'uuid',
  matched_client_id: 'uuid',
  identification_method: 'text',
  method: 'text',
  status_code: 'int',
  src_ip: 'text',
  environment: 'text',
  sandbox: 'boolean',
  ts: 'timestamptz',
  path: 'text',
  latency_ms: 'int',
  upstream_host: 'text',
  error: 'text',
  rate_limited: 'boolean',
  proxy_mode: 'text',
  client_origin: 'text',
  origin: 'text',
  upstream_status: 'int',
  upstream_ms: 'int',
  attempts: 'int',
  request_bytes: 'bigint',
  response_bytes: 'bigint',
  slug: 'text',
  route_name: 'text',
  client_name: 'text',
  user_agent: 'text',
  signature_valid: 'boolean',
  api_key_id: 'uuid',
  user_id: 'uuid',
  secrets_used: 'text[]',
  warnings: 'text[]',
  error_detail: 'text',
  node_id: 'text',
  injected: 'text[]',
  trace: 'jsonb',
} as const satisfies Record<keyof LogRow, string>;

/** Texts that are names and words of ours, or were held to a grammar without any character that COPY would read otherwise. */
const WORDS: ReadonlySet<string> = new Set([
  ...['identification_method', 'proxy_mode', 'client_origin', 'origin', 'error', 'node_id'],
  ...['method', 'src_ip', 'environment', 'slug', 'upstream_host'],
]);

/** The same for COPY. */
export const COLUMNS: CopyColumns<LogRow> = Object.entries(TYPES).map(([name, type]) => [
  name as keyof LogRow,
  name === 'trace' ? { toJson: traceText } : WORDS.has(name) ? 'word' : kindOf(type),
]);

function kindOf(type: (typeof TYPES)[keyof typeof TYPES]): CopyColumn {
  if (type === 'jsonb') return 'json';
  if (type === 'text[]') return 'array';
  if (type === 'boolean') return 'boolean';
  if (type === 'uuid' || type === 'timestamptz') return 'word';
  return type === 'int' || type === 'bigint' ? 'number' : 'text';
}
