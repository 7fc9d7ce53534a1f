import { grouped } from '#components/ui/numbers.ts';
import type { ConfigField } from './config-draft.ts';

const LABELS: Partial<Record<ConfigField, string>> = {
  target_base_url: 'Target URL',
  inject_headers_json: 'Headers put in',
  inject_query_json: 'Query parameters put in',
  inject_body_json: 'Body put in',
  allowed_methods: 'Allowed methods',
  http_method_restrictions_enabled: 'Restrict methods',
  method_configs: 'Settings of single methods',
  use_method_specific_configs: 'Use settings of single methods',
  requires_clients: 'Only assigned clients',
  ip_allowlist: 'Source addresses',
  rate_limit_enabled: 'Rate limit',
  rate_limit_requests: 'Calls',
  rate_limit_window_sec: 'Within (seconds)',
  rate_limit_burst: 'Burst',
  rate_limit_per_client: 'Count each caller as well',
  timeout_ms: 'Timeout (ms)',
  retry_attempts: 'Retries',
  body_placeholders: 'Placeholders in callers’ bodies',
  forward_client_ip: 'Forward the caller’s address',
  intercept_enabled: 'Interception',
  log_payloads: 'Keep payloads',
};

/** A setting as people say it. */
export const labelOf = (field: string): string => LABELS[field as ConfigField] ?? field.replaceAll('_', ' ');

/** A value in a cell. Templates are shown as they are written: they name secrets and hold none. */
export function inWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return grouped(value);
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.length === 0 ? 'none' : value.join(', ');
  if (!Array.isArray(value) && Object.values(value).every((one) => typeof one === 'string' || one === null)) {
    const entries = Object.entries(value as Record<string, string | null>);
    return entries.length === 0 ? 'none' : entries.map(([name, text]) => `${name}: ${text ?? '(removed)'}`).join('; ');
  }
  return JSON.stringify(value);
}
