import { z } from 'zod';
import { addressRange } from '#server/kernel/address-field.ts';
import { baseUrl, uuid } from '#server/kernel/fields.ts';
import { anyObject } from '#server/kernel/json-fields.ts';
import { LosslessNumber } from '#server/kernel/lossless-json.ts';
import { headerNameProblem, TOKEN } from './header-names.shared.ts';
import { UpstreamAuth, upstreamAuth } from './upstream-auth.schema.ts';

export { headerNameProblem } from './header-names.shared.ts';

/** The settings of one route in one environment (interface rules 10 §2.3, §6, §7): what may be written, and how it reads back. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** How calls are signed (interface rule 10 §9); `rfc9421` are HTTP Message Signatures. */
export const SIGNATURE_SCHEMES = ['v1', 'concat', 'rfc9421'] as const;

const MAX_NAMES = 50;
const MAX_TEMPLATE_BYTES = 8 * 1024;
const MAX_BODY_BYTES = 64 * 1024;
const MAX_BODY_DEPTH = 16;

const bytes = (text: string) => new TextEncoder().encode(text).byteLength;

const template = () => z.string().refine((v) => bytes(v) <= MAX_TEMPLATE_BYTES, 'must be at most 8 KiB');

/** Header name -> template; null removes the caller's header. */
const injectedHeaders = () =>
  z
    .record(
      z.string(),
      template()
        .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must only contain characters that are allowed in a header')
        .nullable(),
    )
    .superRefine((map, ctx) => {
      const seen = new Set<string>();
      for (const name of Object.keys(map)) {
        const problem = headerNameProblem(name) ?? (seen.has(name.toLowerCase()) ? 'must be given only once' : undefined);
        if (problem) ctx.addIssue({ code: 'custom', path: [name], message: problem });
        seen.add(name.toLowerCase());
      }
      tooMany(map, ctx);
    })
    .meta({
      propertyNames: { pattern: TOKEN.source },
      maxProperties: MAX_NAMES,
      examples: [{ Authorization: 'Bearer {{secret:STRIPE_API_KEY}}' }],
    });

/** Query parameter name -> template. */
const injectedQuery = () =>
  z
    .record(
      z
        .string()
        .min(1)
        .max(128)
        .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters'),
      template(),
    )
    .superRefine(tooMany)
    .meta({ maxProperties: MAX_NAMES });

/** Any JSON object; strings inside may be templates. */
const injectedBody = () =>
  anyObject()
    .refine((v) => bytes(JSON.stringify(v)) <= MAX_BODY_BYTES, 'must be at most 64 KiB')
    .refine((v) => !deeperThan(v, MAX_BODY_DEPTH), 'must not be nested deeper than 16 levels');

function tooMany(map: Record<string, unknown>, ctx: z.RefinementCtx) {
  if (Object.keys(map).length > MAX_NAMES) ctx.addIssue({ code: 'custom', message: `must have at most ${MAX_NAMES} names` });
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return false;
  return levels === 0 || Object.values(value).some((v) => deeperThan(v, levels - 1));
}

const method = () =>
  z
    .string()
    .transform((m) => m.toUpperCase())
    .pipe(z.enum(METHODS))
    .meta({ enum: [...METHODS] });
const certificate = () => uuid().nullable();
const requests = () => z.number().int().min(1).max(1_000_000);
const windowSeconds = () => z.number().int().min(1).max(86_400);
const burst = () => z.number().int().min(1).max(10_000_000);
const timeoutMs = () => z.number().int().min(100).max(120_000);

const MethodEntry = z.object({
  method: method(),
  inject_headers_json: injectedHeaders().optional(),
  inject_query_json: injectedQuery().optional(),
  inject_body_json: injectedBody().optional(),
  require_signature: z.boolean().optional(),
  rate_limit_enabled: z.boolean().optional(),
  rate_limit_requests: requests().nullable().optional(),
  rate_limit_window_sec: windowSeconds().nullable().optional(),
  rate_limit_burst: burst().nullable().optional(),
  timeout_ms: timeoutMs().optional(),
});

/** An array of entries, or an object keyed by method; stored and answered as the array. */
const methodConfigs = () =>
  z
    .union([
      z.array(MethodEntry).max(METHODS.length),
      z
        .record(z.string().meta({ enum: [...METHODS] }), MethodEntry.omit({ method: true }))
        .transform(asEntries)
        .pipe(z.array(MethodEntry)),
    ])
    .refine((entries) => new Set(entries.map((e) => e.method)).size === entries.length, 'must have only one entry per method');

const asEntries = (keyed: Record<string, object>) =>
  Object.entries(keyed).map(([name, entry]) => ({ ...entry, method: name }) as z.input<typeof MethodEntry>);

/** Fields whose null has a meaning of its own on the base configuration. */
const nullable = {
  rate_limit_requests: requests().nullable(),
  rate_limit_window_sec: windowSeconds().nullable(),
  rate_limit_burst: burst().nullable(),
  allowed_methods: z
    .array(method())
    .max(50)
    .transform((m) => [...new Set(m)])
    .nullable(),
  method_configs: methodConfigs().nullable(),
  mtls_certificate_id: certificate(),
  upstream_ca_certificate_id: certificate(),
  log_payloads: z.enum(['all', 'errors', 'off']).nullable(),
  upstream_auth: upstreamAuth().nullable(),
};

const concrete = {
  target_base_url: baseUrl(),
  inject_headers_json: injectedHeaders(),
  inject_body_json: injectedBody(),
  inject_query_json: injectedQuery(),
  require_signature: z.boolean(),
  signature_tolerance_sec: z.number().int().min(1).max(3600),
  signature_require_nonce: z.boolean(),
  signature_scheme: z.enum(SIGNATURE_SCHEMES),
  rate_limit_enabled: z.boolean(),
  rate_limit_per_client: z.boolean(),
  http_method_restrictions_enabled: z.boolean(),
  use_method_specific_configs: z.boolean(),
  requires_clients: z.boolean(),
  ip_allowlist: z.array(addressRange()).max(100),
  intercept_enabled: z.boolean(),
  timeout_ms: timeoutMs(),
  retry_attempts: z.number().int().min(0).max(3),
  circuit_breaker_failures: z.number().int().min(0).max(100),
  circuit_breaker_open_sec: z.number().int().min(1).max(600),
  upstream_protocol: z.enum(['http1', 'http2']),
  body_placeholders: z.enum(['all', 'same_collection', 'off']),
  forward_client_ip: z.boolean(),
  payload_structure: injectedBody(),
};

/** Accepted so that a reader can send back what was read; anything but "nothing" is refused (interface rule 10 §4.5, §4.6). */
const reserved = {
  injection_rules: z
    .array(z.unknown())
    .max(0, 'is a legacy field that is never applied; use placeholders such as {{secret:NAME}} in inject_body_json'),
  egress_server_id: z.null('is reserved and must be null'),
  data_plane_node_id: z.null('is reserved and must be null'),
};

/** Base configuration: POST and PATCH of a route. */
export const baseFields = z.object({ ...concrete, ...nullable, ...reserved }).partial().shape;

/** An environment's configuration: null reverts to what the base says. `enabled` pauses this environment only. */
export const overrideFields = z.object({
  enabled: z.boolean().nullable().optional(),
  ...orNull(z.object(concrete)),
  ...z.object({ ...nullable, ...reserved }).partial().shape,
}).shape;

type OrNull<S extends z.ZodRawShape> = { [K in keyof S]: z.ZodOptional<z.ZodNullable<S[K] & z.ZodType>> };
function orNull<S extends z.ZodRawShape>({ shape }: z.ZodObject<S>): OrNull<S> {
  return Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, (field as z.ZodType).nullable().optional()])) as OrNull<S>;
}

/** The fields that null clears on the base configuration; on every other one null is refused there. */
export const NULLABLE_FIELDS: readonly string[] = Object.keys(nullable);

const templates = () => z.record(z.string(), z.string().nullable());

/** The settings as answered: effective values, override or inherited. */
export const configAnswer = {
  target_base_url: z.string(),
  inject_headers_json: templates(),
  inject_body_json: anyObject(),
  inject_query_json: templates(),
  require_signature: z.boolean(),
  signature_tolerance_sec: z.number().int(),
  signature_require_nonce: z.boolean(),
  signature_scheme: z.enum(SIGNATURE_SCHEMES),
  rate_limit_enabled: z.boolean(),
  rate_limit_requests: z.number().int().nullable(),
  rate_limit_window_sec: z.number().int().nullable(),
  rate_limit_burst: z.number().int().nullable(),
  rate_limit_per_client: z.boolean(),
  allowed_methods: z.array(z.string()).nullable(),
  http_method_restrictions_enabled: z.boolean(),
  use_method_specific_configs: z.boolean(),
  requires_clients: z.boolean(),
  mtls_certificate_id: z.uuid().nullable(),
  upstream_ca_certificate_id: z.uuid().nullable(),
  ip_allowlist: z.array(z.string()),
  intercept_enabled: z.boolean(),
  timeout_ms: z.number().int(),
  retry_attempts: z.number().int(),
  circuit_breaker_failures: z.number().int(),
  circuit_breaker_open_sec: z.number().int(),
  upstream_protocol: z.enum(['http1', 'http2']),
  body_placeholders: z.enum(['all', 'same_collection', 'off']),
  forward_client_ip: z.boolean(),
  log_payloads: z.enum(['all', 'errors', 'off']).nullable(),
  upstream_auth: UpstreamAuth.nullable(),
};

/** What the list of environments leaves out. */
export const configAnswerMore = {
  method_configs: z.array(z.object({ method: z.string() }).catchall(z.unknown())).nullable(),
  payload_structure: anyObject(),
  injection_rules: z.array(z.unknown()),
  data_plane_node_id: z.null(),
  egress_server_id: z.null(),
};
