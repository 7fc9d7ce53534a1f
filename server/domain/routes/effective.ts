import { jsonOfColumn } from '#server/kernel/lossless-json.ts';
import type { UpstreamAuth } from './config/upstream-auth.schema.ts';

/**
 * What a route does in one environment: the base configuration, an override on top, a method entry on top of that
 * (interface rules 10 §2.3, §5, §6). Pure, so that the gateway's snapshot, the answers of the API and the tests share one reading.
 */
export type InjectMap = { [name: string]: string | null };
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A row of route_environment_configs, columns as PostgreSQL holds them. On overrides null inherits. */
export type ConfigRow = {
  id: string;
  route_id: string;
  environment_id: string;
  environment_name: string;
  is_base: boolean;
  enabled: boolean | null;
  target_base_url: string | null;
  inject_headers_json: unknown;
  inject_body_json: unknown;
  inject_query_json: unknown;
  require_signature: boolean | null;
  signature_tolerance_sec: number | null;
  signature_require_nonce: boolean | null;
  signature_scheme: string | null;
  rate_limit_enabled: boolean | null;
  rate_limit_requests: number | null;
  rate_limit_window_sec: number | null;
  rate_limit_burst: number | null;
  rate_limit_per_client: boolean | null;
  allowed_methods: string[] | null;
  http_method_restrictions_enabled: boolean | null;
  method_configs: unknown;
  use_method_specific_configs: boolean | null;
  requires_clients: boolean | null;
  mtls_certificate_id: string | null;
  upstream_ca_certificate_id: string | null;
  ip_allowlist: string[] | null;
  intercept_enabled: boolean | null;
  timeout_ms: number | null;
  retry_attempts: number | null;
  circuit_breaker_failures: number | null;
  circuit_breaker_open_sec: number | null;
  upstream_protocol: string | null;
  body_placeholders: string | null;
  forward_client_ip: boolean | null;
  log_payloads: string | null;
  payload_structure: unknown;
  upstream_auth: unknown;
  overridden_fields: string[] | null;
};

/** One entry of method_configs: present fields replace the environment's for calls of this method. */
export type MethodConfig = {
  method: string;
  inject_headers_json?: InjectMap;
  inject_query_json?: InjectMap;
  inject_body_json?: JsonObject;
  require_signature?: boolean;
  rate_limit_enabled?: boolean;
  rate_limit_requests?: number | null;
  rate_limit_window_sec?: number | null;
  rate_limit_burst?: number | null;
  timeout_ms?: number;
};

/** Every setting resolved; null only where the rules give null a meaning. */
export type EffectiveConfig = {
  enabled: boolean;
  target_base_url: string;
  inject_headers_json: InjectMap;
  inject_body_json: JsonObject;
  inject_query_json: InjectMap;
  require_signature: boolean;
  signature_tolerance_sec: number;
  signature_require_nonce: boolean;
  signature_scheme: 'v1' | 'concat' | 'rfc9421';
  rate_limit_enabled: boolean;
  rate_limit_requests: number | null;
  rate_limit_window_sec: number | null;
  rate_limit_burst: number | null;
  rate_limit_per_client: boolean;
  /** Applies only while http_method_restrictions_enabled; see `methodAllowed`. */
  allowed_methods: string[] | null;
  http_method_restrictions_enabled: boolean;
  method_configs: MethodConfig[] | null;
  use_method_specific_configs: boolean;
  requires_clients: boolean;
  mtls_certificate_id: string | null;
  upstream_ca_certificate_id: string | null;
  ip_allowlist: string[];
  intercept_enabled: boolean;
  timeout_ms: number;
  retry_attempts: number;
  /** Failures in a row after which calls are refused; 0: never. */
  circuit_breaker_failures: number;
  circuit_breaker_open_sec: number;
  /** What is spoken to the upstream, but for WebSockets and gRPC. */
  upstream_protocol: 'http1' | 'http2';
  body_placeholders: 'all' | 'same_collection' | 'off';
  forward_client_ip: boolean;
  /** null: the workspace's log_payloads_default. */
  log_payloads: 'all' | 'errors' | 'off' | null;
  payload_structure: JsonObject;
  upstream_auth: UpstreamAuth | null;
};

/** What a base row holds when nothing was said. */
export const CONFIG_DEFAULTS: Omit<EffectiveConfig, 'target_base_url'> = {
  enabled: true,
  inject_headers_json: {},
  inject_body_json: {},
  inject_query_json: {},
  require_signature: false,
  signature_tolerance_sec: 300,
  signature_require_nonce: false,
  signature_scheme: 'v1',
  rate_limit_enabled: false,
  rate_limit_requests: null,
  rate_limit_window_sec: null,
  rate_limit_burst: null,
  rate_limit_per_client: false,
  allowed_methods: null,
  http_method_restrictions_enabled: false,
  method_configs: null,
  use_method_specific_configs: false,
  requires_clients: false,
  mtls_certificate_id: null,
  upstream_ca_certificate_id: null,
  ip_allowlist: [],
  intercept_enabled: false,
  timeout_ms: 30_000,
  retry_attempts: 0,
  circuit_breaker_failures: 0,
  circuit_breaker_open_sec: 30,
  upstream_protocol: 'http1',
  body_placeholders: 'same_collection',
  forward_client_ip: false,
  log_payloads: null,
  payload_structure: {},
  upstream_auth: null,
};

export type ConfigField = keyof EffectiveConfig;
export const CONFIG_FIELDS = [
  'enabled',
  'target_base_url',
  ...Object.keys(CONFIG_DEFAULTS).filter((f) => f !== 'enabled'),
] as ConfigField[];

/**
 * The settings of one environment; `override` is null for the base environment itself. A field is local when the override's
 * overridden_fields names it, and a local null means null. `enabled` is never inherited: it pauses one environment only
 * (interface rule 10 §2.3).
 */
export function effectiveConfig(base: ConfigRow, override: ConfigRow | null): EffectiveConfig & { overridden_fields: ConfigField[] } {
  const local = new Set(override?.overridden_fields);
  const resolved = CONFIG_FIELDS.map((field) => {
    const row = override !== null && (field === 'enabled' || local.has(field)) ? override : base;
    return [field, stored(row, field) ?? defaultOf(field)] as const;
  });
  const overridden_fields = override ? CONFIG_FIELDS.filter((field) => local.has(field)) : [...CONFIG_FIELDS];
  // Rows are written from validated settings only, so each column holds its own type.
  return { ...(Object.fromEntries(resolved) as EffectiveConfig), overridden_fields };
}

/** Prisma gives an empty list for a null array: no method list is what both mean. */
const stored = (row: ConfigRow, field: ConfigField): unknown =>
  field === 'allowed_methods' && !row.allowed_methods?.length ? null : ANY_JSON.has(field) ? jsonOfColumn(row[field]) : row[field];

const ANY_JSON: ReadonlySet<ConfigField> = new Set(['inject_body_json', 'method_configs', 'payload_structure', 'upstream_auth']);

const defaultOf = (field: ConfigField): unknown => (field === 'target_base_url' ? '' : CONFIG_DEFAULTS[field]);

/**
 * The settings of one call. `limit_method` names the method whose own rate-limit counter applies, null for the environment's counter;
 * HEAD uses the GET entry unless it has one (interface rule 10 §6).
 */
export function forMethod<T extends EffectiveConfig>(effective: T, method: string): T & { limit_method: string | null } {
  const entry = effective.use_method_specific_configs ? methodEntry(effective.method_configs, method.toUpperCase()) : undefined;
  if (!entry) return { ...effective, limit_method: null };
  const { method: name, ...fields } = entry;
  const present = Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined));
  const ownLimit = LIMIT_FIELDS.some((f) => f in present);
  return { ...effective, ...present, limit_method: ownLimit ? name : null };
}

/** Allowing GET implies HEAD. */
export function methodAllowed(
  effective: Pick<EffectiveConfig, 'allowed_methods' | 'http_method_restrictions_enabled'>,
  method: string,
): boolean {
  if (!effective.http_method_restrictions_enabled) return true;
  const allowed = effective.allowed_methods ?? [];
  return allowed.includes(method) || (method === 'HEAD' && allowed.includes('GET'));
}

const LIMIT_FIELDS = ['rate_limit_enabled', 'rate_limit_requests', 'rate_limit_window_sec', 'rate_limit_burst'] as const;

const methodEntry = (entries: MethodConfig[] | null, method: string) =>
  entries?.find((e) => e.method === method) ?? (method === 'HEAD' ? entries?.find((e) => e.method === 'GET') : undefined);
