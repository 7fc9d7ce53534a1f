import { isDeepStrictEqual } from 'node:util';
import { Prisma } from '#server/generated/prisma/client.ts';
import { canonicalAddress } from '#server/kernel/address.ts';
import { invalid } from '#server/kernel/errors.ts';
import { columnJson } from '#server/kernel/lossless-json.ts';
import {
  CONFIG_DEFAULTS,
  CONFIG_FIELDS,
  type ConfigField,
  type ConfigRow,
  type EffectiveConfig,
  effectiveConfig,
  forMethod,
} from '../effective.ts';
import { NULLABLE_FIELDS } from './schema.ts';

/**
 * A change of a route's configurations in the making. Each environment is held as its local fields alone (the base has all of them),
 * so that inherit, revert and fan-out are operations on maps; `columnsOf` turns a map into the row that stores it.
 */
export type Local = Partial<EffectiveConfig>;
export type Draft = { base: string; locals: Map<string, Local> };
export type Patch = { [F in ConfigField]?: EffectiveConfig[F] | null };

/** A new route's base configuration: the defaults with what was given on top. */
export function newDraft(base: string, patch: Patch & { target_base_url: string }): Draft {
  const draft: Draft = { base, locals: new Map([[base, { ...CONFIG_DEFAULTS, target_base_url: patch.target_base_url }]]) };
  applyPatch(draft, base, patch);
  return draft;
}

/** The configuration fields of a POST or PATCH of a route; `enabled` there is the route's own switch. */
export function configPatch(input: object): Patch {
  const fields = input as Record<string, unknown>;
  return Object.fromEntries(CONFIG_FIELDS.filter((f) => f !== 'enabled' && fields[f] !== undefined).map((f) => [f, fields[f]]));
}

/** The stored rows of a route as a draft to change: the base whole, of the others what is their own. */
export function draftOf(rows: readonly ConfigRow[]): Draft {
  const base = rows.find((row) => row.is_base);
  if (!base) throw new Error('a route has no base configuration');
  const locals = rows.map((row): [string, Local] => {
    const { overridden_fields, ...values } = effectiveConfig(base, row.is_base ? null : row);
    return [row.environment_name, row.is_base ? values : pick(values, overridden_fields)];
  });
  return { base: base.environment_name, locals: new Map(locals) };
}

/** The settings an environment of the draft would run with. */
export function settingsOf(draft: Draft, environment: string): EffectiveConfig {
  const base = draft.locals.get(draft.base) as EffectiveConfig; // the base holds every field
  return environment === draft.base ? base : { ...base, enabled: true, ...draft.locals.get(environment) };
}

/**
 * Writes fields into one environment (interface rules 10 §4.4, §5): on an override null reverts to inherit; on the base null clears a nullable
 * field and is refused elsewhere. A method list or method entries switch their flag along, unless the flag is sent.
 */
export function applyPatch(draft: Draft, environment: string, patch: Patch): void {
  const isBase = environment === draft.base;
  const local = { ...draft.locals.get(environment) };
  for (const field of CONFIG_FIELDS) {
    const value = patch[field];
    if (value === undefined) continue;
    if (value === null && isBase && !NULLABLE_FIELDS.includes(field)) throw invalid(field, 'must not be null');
    put(local, field, value === null && !isBase ? undefined : canonical(field, value));
  }
  for (const [list, flag] of FLAGS) {
    const value = patch[list];
    if (value === undefined || patch[flag] !== undefined) continue;
    put(local, flag, value === null && !isBase ? undefined : value !== null && value.length > 0);
  }
  draft.locals.set(environment, local);
}

/** requires_clients and mtls_certificate_id of a route reach every environment of it (interface rule 10 §4.4). */
export function fanOut(draft: Draft, patch: Patch): void {
  for (const field of ['requires_clients', 'mtls_certificate_id'] as const) {
    if (patch[field] === undefined) continue;
    for (const [environment, local] of draft.locals) {
      const next = { ...local };
      put(next, field, patch[field] === null && environment !== draft.base ? undefined : patch[field]);
      draft.locals.set(environment, next);
    }
  }
}

/** Makes another environment the base; what every environment does stays the same. */
export function rebase(draft: Draft, to: string): void {
  const settings = new Map([...draft.locals.keys()].map((name) => [name, settingsOf(draft, name)]));
  const base = settings.get(to);
  if (!base) throw invalid('base_environment', 'must be an environment the route is configured for');
  for (const [name, local] of draft.locals) {
    const own = settings.get(name) as EffectiveConfig; // built from the same keys
    const kept = CONFIG_FIELDS.filter((f) =>
      f === 'enabled' ? own.enabled === false : (name !== draft.base && f in local) || !isDeepStrictEqual(own[f], base[f]),
    );
    draft.locals.set(name, name === to ? base : pick(own, kept));
  }
  draft.base = to;
}

/** @throws Refusal validation_error when settings contradict each other in any environment of the draft */
export function checkDraft(draft: Draft): void {
  for (const environment of draft.locals.keys()) {
    const settings = settingsOf(draft, environment);
    const where = environment === draft.base ? '' : ` (environment ${environment})`;
    if (settings.http_method_restrictions_enabled && !settings.allowed_methods?.length)
      throw invalid('allowed_methods', `must have at least one method while methods are restricted${where}`);
    checkLimit(settings, where);
    checkSigning(settings, where);
    for (const entry of settings.method_configs ?? [])
      checkLimit(
        forMethod({ ...settings, use_method_specific_configs: true }, entry.method),
        `${where} in method_configs for ${entry.method}`,
      );
  }
}

/** The row that stores one environment of the draft. */
export function columnsOf(draft: Draft, environment: string) {
  const local = draft.locals.get(environment) ?? {};
  const isBase = environment === draft.base;
  return {
    environment_name: environment,
    is_base: isBase,
    enabled: local.enabled ?? null,
    target_base_url: local.target_base_url ?? null,
    inject_headers_json: texts(local.inject_headers_json),
    inject_body_json: json(local.inject_body_json),
    inject_query_json: texts(local.inject_query_json),
    require_signature: local.require_signature ?? null,
    signature_tolerance_sec: local.signature_tolerance_sec ?? null,
    signature_require_nonce: local.signature_require_nonce ?? null,
    signature_scheme: local.signature_scheme ?? null,
    rate_limit_enabled: local.rate_limit_enabled ?? null,
    rate_limit_requests: local.rate_limit_requests ?? null,
    rate_limit_window_sec: local.rate_limit_window_sec ?? null,
    rate_limit_burst: local.rate_limit_burst ?? null,
    rate_limit_per_client: local.rate_limit_per_client ?? null,
    allowed_methods: local.allowed_methods ?? [],
    http_method_restrictions_enabled: local.http_method_restrictions_enabled ?? null,
    method_configs: json(local.method_configs),
    use_method_specific_configs: local.use_method_specific_configs ?? null,
    requires_clients: local.requires_clients ?? null,
    mtls_certificate_id: local.mtls_certificate_id ?? null,
    upstream_ca_certificate_id: local.upstream_ca_certificate_id ?? null,
    ip_allowlist: local.ip_allowlist ?? [],
    intercept_enabled: local.intercept_enabled ?? null,
    timeout_ms: local.timeout_ms ?? null,
    retry_attempts: local.retry_attempts ?? null,
    circuit_breaker_failures: local.circuit_breaker_failures ?? null,
    circuit_breaker_open_sec: local.circuit_breaker_open_sec ?? null,
    upstream_protocol: local.upstream_protocol ?? null,
    body_placeholders: local.body_placeholders ?? null,
    forward_client_ip: local.forward_client_ip ?? null,
    log_payloads: local.log_payloads ?? null,
    payload_structure: json(local.payload_structure),
    upstream_auth: json(local.upstream_auth),
    overridden_fields: isBase ? [] : CONFIG_FIELDS.filter((f) => f in local),
  };
}

/** Names of the fields whose local content differs between two drafts, per environment. */
export function changedFields(before: Draft, after: Draft, environment: string): ConfigField[] {
  const a = before.locals.get(environment) ?? {};
  const b = after.locals.get(environment) ?? {};
  return CONFIG_FIELDS.filter((f) => f in a !== f in b || !isDeepStrictEqual(a[f], b[f]));
}

const FLAGS = [
  ['allowed_methods', 'http_method_restrictions_enabled'],
  ['method_configs', 'use_method_specific_configs'],
] as const;

function checkLimit(
  s: Pick<EffectiveConfig, 'rate_limit_enabled' | 'rate_limit_requests' | 'rate_limit_window_sec' | 'rate_limit_burst'>,
  where: string,
): void {
  if (s.rate_limit_enabled && s.rate_limit_requests === null)
    throw invalid('rate_limit_requests', `is required while rate limiting is on${where}`);
  if (s.rate_limit_enabled && s.rate_limit_window_sec === null)
    throw invalid('rate_limit_window_sec', `is required while rate limiting is on${where}`);
  if (s.rate_limit_burst === null || s.rate_limit_requests === null) return;
  if (s.rate_limit_burst < s.rate_limit_requests || s.rate_limit_burst > 10 * s.rate_limit_requests)
    throw invalid('rate_limit_burst', `must be 1 to 10 times rate_limit_requests${where}`);
}

function checkSigning(
  { signature_scheme, signature_require_nonce, upstream_auth, inject_headers_json, method_configs }: EffectiveConfig,
  where: string,
): void {
  if (signature_scheme === 'concat' && signature_require_nonce)
    throw invalid('signature_require_nonce', `can't be used with the scheme concat, which signs no nonce${where}`);
  const header = upstream_auth && (upstream_auth.type === 'jwt_bearer' ? upstream_auth.header_name : 'Authorization').toLowerCase();
  const injected = [inject_headers_json, ...(method_configs ?? []).map((entry) => entry.inject_headers_json ?? {})];
  if (header && injected.some((map) => Object.keys(map).some((name) => name.toLowerCase() === header && map[name] !== null)))
    throw invalid('upstream_auth', `sets the header ${header}, which inject_headers_json sets as well${where}`);
}

/** One spelling for what compares: addresses, and "nothing" for an empty list. */
function canonical(field: ConfigField, value: unknown): unknown {
  if (field === 'upstream_auth' && (value as { type: string } | null)?.type === 'none') return null;
  if (field === 'ip_allowlist') return [...new Set((value as string[]).map(canonicalEntry))];
  if ((field === 'allowed_methods' || field === 'method_configs') && Array.isArray(value) && value.length === 0) return null;
  return value;
}

function canonicalEntry(text: string, index: number): string {
  const verdict = canonicalAddress(text);
  if (!verdict.ok) throw invalid(`ip_allowlist.${index}`, verdict.problem);
  return verdict.value;
}

/** The patch is typed field by field; this is the one place that writes by a computed name. */
function put(local: Local, field: ConfigField, value: unknown): void {
  if (value === undefined) delete local[field];
  else (local as Record<string, unknown>)[field] = value;
}

const pick = (values: EffectiveConfig, fields: readonly ConfigField[]): Local => Object.fromEntries(fields.map((f) => [f, values[f]]));

/** Sent in an order of their own, so that none has to be kept. */
const texts = (map: Record<string, string | null> | undefined) => map ?? Prisma.DbNull;
const json = (value: unknown) => (value === undefined || value === null ? Prisma.DbNull : (columnJson(value) as Prisma.InputJsonValue));
