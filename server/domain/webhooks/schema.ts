import { z } from 'zod';
import { EVENT_TYPE_NAMES } from '#server/domain/events/catalogue.shared.ts';
import { atLeastOne, flag, isoTime, label, pathId, secret, shownOnce, text, time, uuid } from '#server/kernel/fields.ts';
import { listQuery, pageQuery } from '#server/kernel/page.ts';
import { AUTH_TYPES, DISABLED_REASONS, HMAC_FORMATS, METHODS, SIGNATURE_HEADERS } from './options.shared.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Header fields that describe the message, carry the signature, or are ours (interface rule 60 §2.1). */
const TAKEN = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'content-type',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'x-slack-request-timestamp',
  'webhook-id',
  'webhook-timestamp',
  ...Object.values(SIGNATURE_HEADERS).map((name) => name.toLowerCase()),
]);
const isFree = (name: string) => {
  const folded = name.toLowerCase();
  return !TAKEN.has(folded) && !/^(?:x-svc-|x-webhook-|proxy-)/.test(folded);
};
const headerName = () =>
  z
    .string()
    .regex(TOKEN, 'must be a header name of at most 64 characters')
    .refine(isFree, "can't be used: the request or the signature needs it");
const headerValue = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII');

/** Write only, and of another shape for each auth_type: the service judges it. */
const authConfig = () =>
  secret(
    z.strictObject({
      username: z.string().max(1_024).optional(),
      password: z.string().max(4_096).optional(),
      token: headerValue(4_096).optional(),
      name: headerName().optional(),
      value: headerValue(4_096).optional(),
      secret: z.string().min(24).max(256).optional(),
    }),
  );
const requestHeaders = () =>
  secret(
    z
      .record(headerName(), headerValue(4_096))
      .refine((headers) => Object.keys(headers).length <= 20, 'must be at most 20 headers')
      .refine((headers) => {
        const folded = Object.keys(headers).map((name) => name.toLowerCase());
        return new Set(folded).size === folded.length;
      }, 'must not name a header twice')
      .nullable(),
  );

const statusPattern = z.string().regex(/^[1-5](?:xx|[0-9]{2})$/, 'must be a status such as 429, or a class such as 5xx');
const auditPattern = z
  .string()
  .max(128)
  .regex(/^(?:\*|[a-z0-9_]+)\.(?:\*|[a-z0-9_.]+)$/, 'must be <resource_type>.<action>, with * for any, such as secret.*');

export const Filters = z
  .strictObject({
    status_codes: statusPattern.array().max(50).optional(),
    methods: z
      .string()
      .max(32)
      .regex(/^[A-Z]+$/, 'must be in capitals, such as POST')
      .array()
      .max(20)
      .optional(),
    environments: z.string().min(1).max(63).array().max(50).optional(),
    audit: auditPattern.array().max(50).optional(),
  })
  .meta({ id: 'WebhookFilters' });

const eventTypes = () =>
  z
    .enum(EVENT_TYPE_NAMES, {
      error: ({ input }) => `has ${typeof input === 'string' ? input.slice(0, 64) : 'a value'}, which is no event type`,
    })
    .array()
    .min(1)
    .max(100)
    .transform((types) => [...new Set(types)]);
const routeFilter = () =>
  z.union([uuid().array().max(200), uuid().transform((one) => [one]), z.null()]).transform((ids) => [...new Set(ids ?? [])]);
const method = () =>
  z
    .string()
    .max(8)
    .transform((given) => given.toUpperCase())
    .pipe(z.enum(METHODS))
    .meta({ type: 'string', enum: [...METHODS] });

const fields = {
  name: label(200),
  url: z
    .string()
    .trim()
    .min(1)
    .max(2_048)
    .meta({ format: 'uri', examples: ['https://example.com/hooks'] }),
  event_types: eventTypes(),
  description: text(1_000),
  method: method(),
  auth_type: z.enum(AUTH_TYPES),
  auth_config: authConfig(),
  request_headers: requestHeaders(),
  route_filter: routeFilter(),
  include_request_body: z.boolean(),
  include_response_body: z.boolean(),
  include_headers: z.boolean(),
  timeout_seconds: z.int().min(1).max(60),
  retry_on_failure: z.boolean(),
  max_retries: z.int().min(0).max(10),
  enabled: z.boolean(),
  hmac_key_id: uuid().nullable(),
  hmac_format: z.enum(HMAC_FORMATS),
  hmac_header_name: headerName().nullable(),
  filters: Filters,
};
const { name, url, event_types, ...others } = fields;
const Optional = z.object(others).partial();

export const CreateWebhook = z.object({ name, url, event_types, ...Optional.shape });
export const UpdateWebhook = atLeastOne(z.object({ id: pathId(), ...z.object(fields).partial().shape }));

const row = {
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  url: z.string(),
  method: z.string(),
  event_types: z.string().array(),
  auth_type: z.enum(AUTH_TYPES),
  enabled: z.boolean(),
  created_at: time(),
};
const count = () =>
  z
    .union([z.bigint().transform(Number), z.number()])
    .pipe(z.number())
    .meta({ type: 'integer' });

export const Webhook = z
  .object({
    ...row,
    last_triggered_at: time().nullable(),
    trigger_count: count(),
    success_count: count(),
    failure_count: count(),
    created_at: time(),
  })
  .meta({ id: 'Webhook' });

export const WebhookDetail = Webhook.extend({
  route_filter: z.uuid().array().nullable(),
  filters: Filters,
  include_request_body: z.boolean(),
  include_response_body: z.boolean(),
  include_headers: z.boolean(),
  timeout_seconds: z.int(),
  retry_on_failure: z.boolean(),
  max_retries: z.int(),
  last_success_at: time().nullable(),
  last_failure_at: time().nullable(),
  last_error: z.string().nullable(),
  hmac_key_id: z.uuid().nullable(),
  hmac_format: z.enum(HMAC_FORMATS),
  hmac_header_name: z.string().nullable(),
  has_request_headers: z.boolean(),
  disabled_reason: z.enum(DISABLED_REASONS).nullable(),
  disabled_at: time().nullable(),
  failing_since: time().nullable(),
  consecutive_failures: z.int(),
  /** Deliveries that wait or are on their way, and events that were missed because too many waited. */
  pending: count(),
  dropped: count(),
  previous_secret_expires_at: time().nullable(),
  updated_at: time(),
}).meta({ id: 'WebhookDetail' });

export const CreatedWebhook = z
  .object({
    ...row,
    hmac_key_id: z.uuid().nullable(),
    hmac_format: z.enum(HMAC_FORMATS).nullable(),
    hmac_header_name: z.string().nullable(),
    secret_key: shownOnce(z.string()),
  })
  .meta({ id: 'CreatedWebhook' });
export const UpdatedWebhook = z.object(row).meta({ id: 'UpdatedWebhook' });

export const ListWebhooks = listQuery({
  sorts: ['created_at', 'name', 'enabled'],
  sort: 'created_at',
  order: 'desc',
  filters: { q: z.string().max(100).optional(), enabled: flag().optional(), event_type: z.enum(EVENT_TYPE_NAMES).optional() },
});
export const WebhookRef = z.object({ id: pathId() });

export const WebhookEventTypes = z
  .object({ event_types: z.object({ value: z.string(), label: z.string(), description: z.string() }).array() })
  .meta({ id: 'WebhookEventTypes' });

export const RotateWebhookSecret = z.object({ id: pathId(), overlap_hours: z.int().min(0).max(72).default(24) });
export const RotatedWebhookSecret = z
  .object({ id: z.uuid(), secret_key: shownOnce(z.string()), previous_secret_expires_at: time().nullable() })
  .meta({ id: 'RotatedWebhookSecret' });

export const ListWebhookAttempts = z.object({
  id: pathId(),
  ...pageQuery,
  success: flag().optional(),
  event_type: z.string().max(64).optional(),
  from: isoTime().optional(),
  to: isoTime().optional(),
});
export const WebhookAttempt = z
  .object({
    id: z.uuid(),
    http_method: z.string().nullable(),
    target_url: z.string().nullable(),
    source_ip: z.null(),
    response_status: z.int().nullable(),
    response_time_ms: z.int().nullable(),
    executed_at: time(),
    success: z.boolean(),
    error_message: z.string().nullable(),
    event_id: z.uuid(),
    event_type: z.string(),
    attempt: z.int(),
    delivery_id: z.uuid(),
    error_code: z.string().nullable(),
    next_attempt_at: time().nullable(),
    trigger: z.enum(['event', 'test', 'redelivery', 'recover']),
  })
  .meta({ id: 'WebhookAttempt' });

export const TestWebhook = z.object({ id: pathId(), event_type: z.enum(EVENT_TYPE_NAMES).optional() });
export const TestedWebhook = z
  .object({ success: z.boolean(), response_time_ms: z.int(), status: z.int().optional(), error: z.string().optional() })
  .meta({ id: 'TestedWebhook' });

export const AttemptRef = z.object({ id: pathId(), log_id: pathId() });
export const Redelivery = z
  .object({ delivery_id: z.uuid(), event_id: z.uuid(), status: z.literal('pending') })
  .meta({ id: 'WebhookRedelivery' });
export const RecoverWebhook = z.object({ id: pathId(), since: isoTime(), until: isoTime().optional() });
export const RecoveredWebhook = z.object({ queued: z.int() }).meta({ id: 'RecoveredWebhook' });

export const RevealedWebhookSecret = z
  .object({ secret_key: z.string(), secret: z.string(), previous_secret_expires_at: time().nullable() })
  .meta({ id: 'RevealedWebhookSecret' });

export const BrowseAttempts = z.object({
  page: pageQuery.page,
  per_page: pageQuery.per_page,
  webhook_id: uuid().optional(),
  event_type: z.string().max(64).optional(),
  success: flag().optional(),
  from: isoTime().optional(),
  to: isoTime().optional(),
});
export const BrowsedAttempt = WebhookAttempt.extend({ webhook_id: z.uuid(), webhook_name: z.string() }).meta({ id: 'WebhookLog' });
export const InspectedAttempt = BrowsedAttempt.extend({
  request_headers: z.string().array(),
  response_headers: z.string().array(),
  /** Every attempt of the delivery, the first one first. */
  attempts: WebhookAttempt.array(),
  payload: z.null(),
  payload_withheld: z.literal(true),
}).meta({ id: 'WebhookLogDetail' });
const Side = z.object({ headers: z.record(z.string(), z.string()), body: z.string().nullable(), truncated: z.boolean() });
export const RevealedAttempt = InspectedAttempt.extend({
  payload: z.object({ request: Side, response: Side.nullable() }),
  payload_withheld: z.literal(false),
}).meta({ id: 'RevealedWebhookLog' });

export const WebhookUsageQuery = z.object({});
/** The last 24 hours of each webhook, for the list of the dashboard. */
export const WebhookUsage = z
  .object({ id: z.uuid(), delivered: z.int(), failed: z.int(), failing_since: time().nullable(), disabled_reason: z.string().nullable() })
  .meta({ id: 'WebhookUsage' });
/** The last 14 days of one webhook, oldest first; days without an attempt are among them. */
export const WebhookStats = z
  .object({
    days: z
      .object({
        day: z.iso.date(),
        delivered: z.int(),
        failed: z.int(),
        /** Of attempts that were answered. */
        p50_ms: z.int().nullable(),
        p95_ms: z.int().nullable(),
      })
      .array(),
  })
  .meta({ id: 'WebhookStats' });
export type Attempt = z.output<typeof WebhookAttempt>;
export type FiltersOf = z.output<typeof Filters>;
