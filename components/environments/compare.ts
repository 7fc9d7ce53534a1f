import type { Config } from '#components/routes/config-draft.ts';
import { secretsIn } from '#server/domain/routes/config/literal-credential.shared.ts';

/** One compared setting of a route. */
export type Line = { label: string; a: string; b: string; differs: boolean };
type Named = { name: string; environment_names: readonly string[] };
/** Secrets by id and by name. */
export type KnownSecrets = ReadonlyMap<string, Named>;

/** The two configurations side by side; a route that one of them does not serve says so in one line. */
export function compared(a: Config | undefined, b: Config | undefined): Line[] {
  if (!a || !b) return [line('Configured', a ? 'Yes' : 'No', b ? 'Yes' : 'No')];
  const words = facts.map(([label, say]) => line(label, say(a), say(b)));
  return words.filter((one) => one.differs || ALWAYS.has(one.label));
}

/** Secrets that the configuration names and that hold no value in its environment: calls there are refused. */
export function missingSecrets(config: Config | undefined, secrets: KnownSecrets): string[] {
  if (!config) return [];
  const templates = [
    ...Object.values(config.inject_headers_json),
    ...Object.values(config.inject_query_json),
    JSON.stringify(config.inject_body_json),
    JSON.stringify(config.method_configs),
  ];
  const names = templates
    .flatMap((text) => secretsIn(text ?? ''))
    .flatMap(({ value }) => {
      const secret = secrets.get(value.toLowerCase());
      return secret && !secret.environment_names.includes(config.environment_name) ? [secret.name] : [];
    });
  return [...new Set(names)];
}

/** Secrets with a value in exactly one of the two environments, and where it is missing. */
export const oneSided = (secrets: readonly Named[], a: string, b: string): { name: string; missing_in: string }[] =>
  secrets.flatMap(({ name, environment_names: set }) =>
    set.includes(a) === set.includes(b) ? [] : [{ name, missing_in: set.includes(a) ? b : a }],
  );

const ALWAYS: ReadonlySet<string> = new Set(['Upstream']);
const line = (label: string, a: string, b: string): Line => ({ label, a, b, differs: a !== b });
const names = (map: object) => Object.keys(map).sort().join(', ') || 'None';

const facts: readonly [label: string, say: (config: Config) => string][] = [
  ['Status', (c) => (c.enabled ? 'Active' : 'Paused')],
  ['Upstream', (c) => c.target_base_url],
  ['Injected headers', (c) => names(c.inject_headers_json)],
  ['Injected query', (c) => names(c.inject_query_json)],
  ['Injected body', (c) => names(c.inject_body_json)],
  ['Methods', (c) => (c.http_method_restrictions_enabled ? (c.allowed_methods ?? []).join(', ') : 'All')],
  ['Clients', (c) => (c.requires_clients ? 'Assigned only' : 'Any API key')],
  ['IP allowlist', (c) => c.ip_allowlist.join(', ') || 'Any'],
  ['Rate limit', (c) => (c.rate_limit_enabled ? `${String(c.rate_limit_requests)} per ${String(c.rate_limit_window_sec)} s` : 'None')],
  ['Timeout', (c) => `${c.timeout_ms.toString()} ms`],
  ['Retries', (c) => c.retry_attempts.toString()],
  [
    'Circuit breaker',
    (c) => (c.circuit_breaker_failures === 0 ? 'Off' : `${c.circuit_breaker_failures} failures, ${c.circuit_breaker_open_sec} s`),
  ],
  ['Placeholders in bodies', (c) => c.body_placeholders.replace('_', ' ')],
  ['Logged payloads', (c) => c.log_payloads ?? 'Workspace default'],
];
