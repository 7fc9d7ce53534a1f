import { grouped } from '#components/ui/numbers.ts';
import type { ConfigField } from './config-draft.ts';

const LABELS: Partial<Record<ConfigField, string>> = {
  target_base_url: 'Upstream URL',
  inject_headers_json: 'Injected headers',
  inject_query_json: 'Injected query parameters',
  inject_body_json: 'Injected body',
  allowed_methods: 'Allowed methods',
  http_method_restrictions_enabled: 'Restrict methods',
  method_configs: 'Method overrides',
  use_method_specific_configs: 'Use method overrides',
  requires_clients: 'Require an assigned client',
  ip_allowlist: 'IP allowlist',
  require_signature: 'Require signatures',
  signature_scheme: 'Signature scheme',
  signature_tolerance_sec: 'Signature tolerance (seconds)',
  signature_require_nonce: 'Require a nonce',
  rate_limit_enabled: 'Rate limit',
  rate_limit_requests: 'Calls',
  rate_limit_window_sec: 'Window (seconds)',
  rate_limit_burst: 'Burst',
  rate_limit_per_client: 'Per-caller limit',
  timeout_ms: 'Timeout (ms)',
  retry_attempts: 'Retries',
  circuit_breaker_failures: 'Failures until calls pause',
  circuit_breaker_open_sec: 'Pause (seconds)',
  upstream_protocol: 'Protocol',
  body_placeholders: 'Placeholders in request bodies',
  forward_client_ip: 'Forward caller IP address',
  intercept_enabled: 'Interception',
  log_payloads: 'Payloads kept',
  upstream_auth: 'Upstream authentication',
};

/** The label of a setting. */
export const labelOf = (field: string): string => LABELS[field as ConfigField] ?? field.replaceAll('_', ' ');

/** A value in a cell. Templates are shown as they are written: they name secrets and hold none. */
export function inWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'None';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return grouped(value);
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.length === 0 ? 'None' : value.join(', ');
  if (!Array.isArray(value) && Object.values(value).every((one) => typeof one === 'string' || one === null)) {
    const entries = Object.entries(value as Record<string, string | null>);
    return entries.length === 0 ? 'None' : entries.map(([name, text]) => `${name}: ${text ?? '(removed)'}`).join('; ');
  }
  return JSON.stringify(value);
}
