import { METHODS } from '#server/domain/routes/config/schema.ts';
import {
  type ConfigRow,
  type EffectiveConfig,
  effectiveConfig,
  forMethod,
  type InjectMap,
  methodAllowed,
} from '#server/domain/routes/effective.ts';
import { listReferences, parseTemplate } from '#server/domain/templates/grammar.ts';
import { textsIn } from '#server/domain/templates/texts.shared.ts';
import { compileRanges } from '#server/kernel/address.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import type { EgressSettings } from '#server/platform/http-out/settings.ts';
import { parseTarget } from '#server/platform/http-out/target-url.ts';
import { ECHO_ORIGIN, echoTarget } from './echo-target.ts';
import type { FieldActions } from './field-actions.ts';
import type {
  CallConfig,
  CompiledTarget,
  CompiledTemplate,
  Environment,
  Injection,
  RateLimit,
  Route,
  SignatureRule,
  UpstreamSigning,
} from './model.ts';

export type RouteRow = {
  id: string;
  name: string;
  slug: string | null;
  enabled: boolean;
  collection_id: string | null;
  base_environment_id: string;
  managed: boolean;
};

/** Costs little: an environment's settings are compiled at its first call. */
export function compileRoute(
  row: RouteRow,
  configs: readonly ConfigRow[],
  assigned: (environment: string) => ReadonlySet<string>,
  egress: EgressSettings,
  actions?: () => FieldActions | null,
): Route {
  let fields: FieldActions | null | undefined;
  const base = configs.find((config) => config.is_base);
  const compiled = new Map<string, Environment>();
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    enabled: row.enabled,
    managed: row.managed,
    collectionId: row.collection_id,
    baseEnvironment: base?.environment_name ?? '',
    environment(name) {
      const known = compiled.get(name);
      if (known) return known;
      const config = configs.find((candidate) => candidate.environment_name === name);
      if (!config || !base) return undefined;
      fields ??= actions?.() ?? null;
      const environment = compileEnvironment(
        row,
        config,
        effectiveConfig(base, config === base ? null : config),
        assigned(config.environment_id),
        egress,
        fields,
      );
      compiled.set(name, environment);
      return environment;
    },
  };
}

function compileEnvironment(
  route: RouteRow,
  row: ConfigRow,
  effective: EffectiveConfig,
  assigned: ReadonlySet<string>,
  egress: EgressSettings,
  actions: FieldActions | null,
): Environment {
  const methods = METHODS.filter((method) => methodAllowed(effective, method));
  const perMethod = new Map<string, CallConfig>();
  const compile = (method: string) => {
    const fields = forMethod(effective, method);
    const limitKey = `r:${route.id}:${row.environment_id}${fields.limit_method === null ? '' : `:${fields.limit_method}`}`;
    return compileConfig(fields, limitKey, `${route.id}:${row.environment_id}`, egress, actions);
  };
  const shared = effective.use_method_specific_configs ? undefined : compile('GET');
  return {
    id: row.environment_id,
    name: row.environment_name,
    enabled: effective.enabled,
    requiresClients: effective.requires_clients,
    assigned,
    allows: effective.ip_allowlist.length > 0 ? compileRanges(effective.ip_allowlist) : null,
    methods: effective.http_method_restrictions_enabled ? new Set(methods) : null,
    allow: methods.join(', '),
    config(method) {
      if (shared) return shared;
      let config = perMethod.get(method);
      if (!config) {
        config = compile(method);
        perMethod.set(method, config);
      }
      return config;
    },
  };
}

const METHOD_OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override'];
const PATH_OVERRIDES = ['x-original-url', 'x-rewrite-url'];

/** Headers that lead some frameworks past what was checked: the method where the route decides by it, the path where the target has one. */
function overridesOf(fields: EffectiveConfig, target: CompiledTarget): string[] {
  const byMethod = fields.http_method_restrictions_enabled || fields.use_method_specific_configs;
  const byPath = byMethod || target.kind !== 'fixed' || target.basePath !== '';
  return [...(byMethod ? METHOD_OVERRIDES : []), ...(byPath ? PATH_OVERRIDES : [])];
}

function compileConfig(
  fields: EffectiveConfig,
  limitKey: string,
  circuitKey: string,
  egress: EgressSettings,
  actions: FieldActions | null,
): CallConfig {
  const headers = compileInjections(fields.inject_headers_json);
  // jsonb forgets the order members were written in, so parameters are appended by name.
  const query = compileInjections(fields.inject_query_json).sort((a, b) => (a.name < b.name ? -1 : 1));
  const injected: unknown = fields.inject_body_json;
  const object = typeof injected === 'string' ? parseBodyObject(injected) : (injected as Record<string, unknown>);
  const body = object && Object.keys(object).length > 0 ? object : null;
  const target = compileTarget(fields.target_base_url, egress);
  const inHead = [...headers, ...query].flatMap((rule) => rule.template ?? []);
  const inBody =
    body === null
      ? []
      : textsIn(body).flatMap(({ text, place }) =>
          place === 'value' && text.includes('{{') ? [[text, compileTemplate(text)] as const] : [],
        );
  const inTarget = target.kind === 'template' ? [target.template] : [];
  const signing = compileSigning(fields);
  const malformed = [...inHead, ...inBody.map(([, template]) => template), ...inTarget].find((template) => template.malformed !== null);
  return {
    target,
    headers,
    droppedHeaders: new Set([
      ...headers.map((rule) => hyphenated(rule.lower)),
      ...overridesOf(fields, target),
      ...signingFields(fields),
      // Their values are read, changed and put in again; a body that can't be read can't be changed.
      ...(actions?.request?.headerNames ?? []),
      ...(actions?.response?.body.size ? ['accept-encoding'] : []),
    ]),
    dropsAmazon: fields.upstream_auth?.type === 'aws_sigv4',
    query,
    queryNames: new Set(query.map((rule) => rule.name)),
    body,
    bodyTemplates: new Map(inBody),
    references: {
      head: [...inHead.flatMap(referencesOf), ...(signing?.secret ? [signing.secret] : [])],
      body: inBody.flatMap(([, template]) => referencesOf(template)),
    },
    malformed: malformed?.malformed ?? null,
    rateLimit: compileLimit(fields, limitKey),
    timeoutMs: fields.timeout_ms,
    retryAttempts: fields.retry_attempts,
    circuit:
      fields.circuit_breaker_failures === 0
        ? null
        : { key: circuitKey, failures: fields.circuit_breaker_failures, openMs: fields.circuit_breaker_open_sec * 1000 },
    http2: fields.upstream_protocol === 'http2',
    bodyPlaceholders: fields.body_placeholders,
    forwardClientIp: fields.forward_client_ip,
    logPayloads: fields.log_payloads,
    signature: compileSignature(fields),
    upstreamAuth: signing,
    fields: actions,
    tls:
      fields.mtls_certificate_id === null && fields.upstream_ca_certificate_id === null
        ? null
        : { certificateId: fields.mtls_certificate_id, caId: fields.upstream_ca_certificate_id },
  };
}

const SIGNATURE_FIELDS = { v1: [], concat: ['x-signature', 'x-timestamp'], rfc9421: ['signature', 'signature-input'] } as const;

/** Fields that aren't the upstream's: a caller's signature for us, which could be used again, and what we authenticate with ourselves. */
function signingFields({ require_signature, signature_scheme, upstream_auth }: EffectiveConfig): string[] {
  const own = upstream_auth && (upstream_auth.type === 'jwt_bearer' ? upstream_auth.header_name : 'authorization');
  return [...(require_signature ? SIGNATURE_FIELDS[signature_scheme] : []), ...(own ? [hyphenated(own.toLowerCase())] : [])];
}

const compileSignature = (fields: EffectiveConfig): SignatureRule | null =>
  fields.require_signature
    ? { scheme: fields.signature_scheme, toleranceSec: fields.signature_tolerance_sec, requiresNonce: fields.signature_require_nonce }
    : null;

function compileSigning({ upstream_auth: auth }: EffectiveConfig): UpstreamSigning | null {
  return auth && { auth, secret: auth.secret_id === undefined ? null : { kind: 'secret_id', id: auth.secret_id } };
}

function compileInjections(map: InjectMap | null): Injection[] {
  return Object.entries(map ?? {}).map(([name, text]) => ({
    name,
    lower: name.toLowerCase(),
    template: text === null ? null : compileTemplate(text),
  }));
}

function compileTemplate(text: string): CompiledTemplate {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return { parts: [], constant: null, malformed: parsed.message };
  const constant = parsed.template.every((part) => part.kind === 'literal') ? text : null;
  return { parts: parsed.template, constant, malformed: null };
}

const referencesOf = (template: CompiledTemplate) => listReferences([...template.parts]);

function compileTarget(url: string, egress: EgressSettings): CompiledTarget {
  if (url === ECHO_ORIGIN || url.startsWith(`${ECHO_ORIGIN}/`)) {
    const target = echoTarget(url);
    return { kind: 'fixed', target, basePath: basePathOf(target.path), echo: true };
  }
  if (url.includes('{{')) return { kind: 'template', template: compileTemplate(url) };
  return fixedTarget(url, egress);
}

/** A base URL without variables, judged by every rule that needs no DNS. Also used on a call, after variables were put in. */
export function fixedTarget(url: string, egress: EgressSettings): CompiledTarget {
  const verdict = parseTarget(url, egress);
  if (verdict.ok) return { kind: 'fixed', target: verdict.target, basePath: basePathOf(verdict.target.path), echo: false };
  const inside = verdict.reason === 'own_host' || verdict.reason === 'not_allowed' || verdict.reason === 'port';
  return {
    kind: 'refused',
    code: inside ? 'upstream_not_allowed' : 'template_invalid',
    message: `The target URL of this route ${verdict.message}.`,
  };
}

/** One trailing slash of the base is insignificant when a path follows (interface rule 12 §7). */
const basePathOf = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : path);

function compileLimit(fields: EffectiveConfig, key: string): RateLimit | null {
  if (!fields.rate_limit_enabled || !fields.rate_limit_requests || !fields.rate_limit_window_sec) return null;
  const { rate_limit_requests: limit, rate_limit_window_sec: seconds, rate_limit_burst: burst, rate_limit_per_client: perCaller } = fields;
  return { key, limit, windowMs: seconds * 1000, burst, perCaller };
}

/** JSON with its numbers as they are written; an object, or null when the text is something else. */
function parseBodyObject(text: string | null): Readonly<Record<string, unknown>> | null {
  if (text === null) return null;
  const value = parseExact(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}
