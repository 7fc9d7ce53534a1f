import { array, type CopyColumn, type CopyColumns, text, word } from './copy.ts';
import type { LogRow } from './row.ts';
import { sameNames } from './same-names.ts';
import type { Trace, TraceText } from './trace.ts';

/** The columns of request_logs that a row brings, with their types: first those that tell where a call went and who called, which neighbours mostly have in common. */
export const TYPES = {
  tenant_id: 'uuid',
  route_id: 'uuid',
  api_key_id: 'uuid',
  oauth_client_id: 'text',
  matched_client_id: 'uuid',
  identification_method: 'text',
  environment: 'text',
  sandbox: 'boolean',
  upstream_host: 'text',
  proxy_mode: 'text',
  client_origin: 'text',
  slug: 'text',
  route_name: 'text',
  client_name: 'text',
  signature_valid: 'boolean',
  user_id: 'uuid',
  node_id: 'text',
  secrets_used: 'text[]',
  injected: 'text[]',
  request_id: 'uuid',
  method: 'text',
  status_code: 'int',
  src_ip: 'text',
  ts: 'timestamptz',
  path: 'text',
  latency_ms: 'int',
  error: 'text',
  rate_limited: 'boolean',
  origin: 'text',
  upstream_status: 'int',
  upstream_ms: 'int',
  attempts: 'int',
  request_bytes: 'bigint',
  response_bytes: 'bigint',
  user_agent: 'text',
  warnings: 'text[]',
  error_detail: 'text',
  payload_flags: 'int',
  trace: 'jsonb',
} as const satisfies Record<keyof LogRow, string>;

/** The same as COPY names and reads them. */
export const COLUMNS: CopyColumns<LogRow> = Object.entries(TYPES).map(([name, type]) => [name as keyof LogRow, kindOf(type)]);

function kindOf(type: (typeof TYPES)[keyof typeof TYPES]): CopyColumn {
  if (type === 'jsonb') return 'json';
  if (type === 'text[]') return 'array';
  if (type === 'boolean') return 'boolean';
  return type === 'int' || type === 'bigint' ? 'number' : 'text';
}

/**
 * The row as a line of COPY, in the order of `TYPES`. Written out, and not by the list of columns: that costs half a microsecond more a call. Words are names
 * of ours, or texts that were held to a grammar without any character that COPY would read otherwise.
 */
export function logLine(row: LogRow): string {
  return (
    `${placeText(row)}${word(row.request_id)}\t${word(row.method)}\t${word(row.status_code)}\t${word(row.src_ip)}\t${word(row.ts)}\t` +
    `${text(row.path)}\t${word(row.latency_ms)}\t${word(row.error)}\t${word(row.rate_limited)}\t${word(row.origin)}\t` +
    `${word(row.upstream_status)}\t${word(row.upstream_ms)}\t${word(row.attempts)}\t${word(row.request_bytes)}\t` +
    `${word(row.response_bytes)}\t${text(row.user_agent)}\t${array(row.warnings)}\t${text(row.error_detail)}\t${word(row.payload_flags)}\t` +
    `${row.trace ? json(row.trace) : '\\N'}\n`
  );
}

const json = (trace: Trace | TraceText): string => ('text' in trace ? trace.text : text(JSON.stringify(trace)));

/** The place of the row before, and its text once it was asked for again. */
let before: { row: LogRow; text: string; again: boolean } | undefined;

/** The columns before `request_id`, each with its tab. */
function placeText(row: LogRow): string {
  if (!before || !samePlace(before.row, row)) {
    before = { row, text: writePlace(row), again: false };
    return before.text;
  }
  if (!before.again) {
    before.again = true;
    // In one piece: as the many that it was put together of, each line would collect them anew.
    before.text = Buffer.from(before.text).toString();
  }
  return before.text;
}

const writePlace = (row: LogRow): string =>
  `${word(row.tenant_id)}\t${word(row.route_id)}\t${word(row.api_key_id)}\t${text(row.oauth_client_id)}\t${word(row.matched_client_id)}\t${word(row.identification_method)}\t` +
  `${word(row.environment)}\t${word(row.sandbox)}\t${word(row.upstream_host)}\t${word(row.proxy_mode)}\t${word(row.client_origin)}\t` +
  `${word(row.slug)}\t${text(row.route_name)}\t${text(row.client_name)}\t${word(row.signature_valid)}\t${word(row.user_id)}\t` +
  `${word(row.node_id)}\t${array(row.secrets_used)}\t${array(row.injected)}\t`;

const samePlace = (a: LogRow, b: LogRow): boolean =>
  a.tenant_id === b.tenant_id &&
  a.route_id === b.route_id &&
  a.api_key_id === b.api_key_id &&
  a.oauth_client_id === b.oauth_client_id &&
  a.matched_client_id === b.matched_client_id &&
  a.identification_method === b.identification_method &&
  a.environment === b.environment &&
  a.sandbox === b.sandbox &&
  a.upstream_host === b.upstream_host &&
  a.proxy_mode === b.proxy_mode &&
  a.client_origin === b.client_origin &&
  a.slug === b.slug &&
  a.route_name === b.route_name &&
  a.client_name === b.client_name &&
  a.signature_valid === b.signature_valid &&
  a.user_id === b.user_id &&
  a.node_id === b.node_id &&
  sameNames(a.secrets_used, b.secrets_used) &&
  sameNames(a.injected, b.injected);
