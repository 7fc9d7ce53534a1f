import type { z } from 'zod';
import type { RouteEnvironmentSummary } from '#server/domain/routes/schema.ts';

/** What one route does in one environment, as the API answers it: effective values, and which of them are local. */
export type Config = z.output<typeof RouteEnvironmentSummary>;
/** A setting that can be edited here. */
export type ConfigField = Exclude<keyof Config, 'environment_name' | 'overridden_fields'>;
/** Unsaved changes: the body of the PUT. On an override null takes the value away, so that the base shows through again. */
export type Draft = { readonly [field in ConfigField]?: Config[field] | null };

export type Origin = 'base' | 'inherited' | 'overridden';

/** Where the value shown comes from, the unsaved change included. */
export function originOf(field: ConfigField, config: Config, isBase: boolean, draft: Draft): Origin {
  if (isBase) return 'base';
  if (field in draft) return draft[field] === null ? 'inherited' : 'overridden';
  return config.overridden_fields.includes(field) ? 'overridden' : 'inherited';
}

/** The value a save would lead to. */
export function shownValue<F extends ConfigField>(field: F, config: Config, base: Config, draft: Draft): Config[F] {
  const edited = draft[field] as Config[F] | null | undefined;
  if (edited === undefined) return config[field];
  // The base's null means "none"; an override's means "as the base".
  return edited === null && config !== base ? base[field] : (edited as Config[F]);
}

/** The draft with a field set; setting what is stored anyway removes the change. */
export function withValue<F extends ConfigField>(draft: Draft, config: Config, field: F, value: Config[F], isBase: boolean): Draft {
  const { [field]: _, ...rest } = draft;
  const stored = isBase || config.overridden_fields.includes(field);
  return stored && same(config[field], value) ? rest : { ...rest, [field]: value };
}

/** The draft with a field inherited again; only meaningful on an override. */
export function withoutOverride(draft: Draft, config: Config, field: ConfigField): Draft {
  const { [field]: _, ...rest } = draft;
  return config.overridden_fields.includes(field) ? { ...rest, [field]: null } : rest;
}

/** The settings that the JSON side of the editor shows and takes, in the order of the documentation. */
const JSON_FIELDS = [
  'enabled',
  'target_base_url',
  'inject_headers_json',
  'inject_query_json',
  'inject_body_json',
  'allowed_methods',
  'method_configs',
  'requires_clients',
  'ip_allowlist',
  'require_signature',
  'signature_scheme',
  'signature_tolerance_sec',
  'signature_require_nonce',
  'rate_limit_enabled',
  'rate_limit_requests',
  'rate_limit_window_sec',
  'rate_limit_burst',
  'rate_limit_per_client',
  'timeout_ms',
  'retry_attempts',
  'circuit_breaker_failures',
  'circuit_breaker_open_sec',
  'upstream_protocol',
  'body_placeholders',
  'forward_client_ip',
  'intercept_enabled',
  'log_payloads',
  'upstream_auth',
] as const satisfies readonly ConfigField[];

/** The body that, sent to the API, makes this configuration: on an override only what is local to it. */
export function bodyOf(config: Config, base: Config, draft: Draft): Record<string, unknown> {
  const isBase = config === base;
  return Object.fromEntries(
    JSON_FIELDS.flatMap((field) =>
      isBase || originOf(field, config, isBase, draft) === 'overridden'
        ? [[field, spoken(field, shownValue(field, config, base, draft), isBase)]]
        : [],
    ),
  );
}

/** On an override null would mean "inherit": what it takes away from the base is written as the empty list, or as `none`. */
function spoken(field: ConfigField, value: unknown, isBase: boolean): unknown {
  if (value !== null || isBase) return value;
  return field === 'allowed_methods' ? [] : field === 'upstream_auth' ? { type: 'none' } : value;
}

/** The draft that turns the stored configuration into the given body. A field left out of an override's body is inherited again. */
export function draftFrom(body: Readonly<Record<string, unknown>>, config: Config, isBase: boolean): Draft {
  return JSON_FIELDS.reduce<Draft>((draft, field) => {
    if (body[field] !== undefined && (isBase || body[field] !== null)) return withValue(draft, config, field, body[field] as never, isBase);
    return isBase ? draft : withoutOverride(draft, config, field);
  }, {});
}

/** The API answers an empty list of methods as null: both say "every method". */
const same = (a: unknown, b: unknown): boolean => JSON.stringify(plain(a)) === JSON.stringify(plain(b));
const plain = (value: unknown) => (Array.isArray(value) && value.length === 0 ? null : value);
