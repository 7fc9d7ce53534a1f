import { z } from 'zod';
import { flag, isoTime, queryInt, time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';
import { BODY_WITHHELD, PAYLOAD_STATES, SIDES } from './payloads/stored.shared.ts';
import { LogRef, RequestLog, statusFilters, word } from './schema.ts';
import { OUTCOMES } from './span.shared.ts';

// The dashboard's table of calls: its filters, its rows, one call in full, and what one can filter by.

/** An address or a CIDR range. */
const addressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must be an IP address or a CIDR range');

const filters = {
  from: isoTime().optional(),
  to: isoTime().optional(),
  ...statusFilters,
  method: word.optional(),
  route_id: uuid().optional(),
  /** calls of the routes that are in the collection now */
  collection_id: uuid().optional(),
  client_id: uuid().optional(),
  api_key_id: uuid().optional(),
  environment: word.optional(),
  proxy_mode: word.optional(),
  client_origin: word.optional(),
  origin: z.enum(['upstream', 'service']).optional(),
  error: word.optional(),
  outcome: z.enum(OUTCOMES).optional(),
  rate_limited: flag().optional(),
  min_latency_ms: queryInt(0, 86_400_000).optional(),
  src_ip: addressRange.optional(),
  q: z.string().trim().min(1).max(500).optional(),
};

/** `before` is the `next` of the page before; `page` works too, to the depth that `total` counts. */
export const BrowseLogs = z.object({
  ...filters,
  ...pageQuery,
  sort: z.enum(['ts', 'latency_ms']).default('ts'),
  order: z.enum(['asc', 'desc']).default('desc'),
  before: z
    .string()
    .regex(/^\d{1,15}-(?:\d{1,18}|[1-8]\d{18})$/, 'is not a valid cursor for this list. Start again without it')
    .optional(),
});

/** A row of the dashboard's table: every role sees all of it (interface rule 00, request logs). */
export const LogView = RequestLog.omit({ cursor: true })
  .extend({ api_key_id: z.uuid().nullable(), source_ip_country: z.string().nullable(), source_ip_city: z.string().nullable() })
  .meta({ id: 'LogView' });
export const BrowsedLogs = z
  .object({
    logs: z.array(LogView),
    page: z.number(),
    per_page: z.number(),
    total: z.number(),
    total_is_capped: z.boolean(),
    next: z.string().nullable(),
    /** the first day (UTC) on record with a successful call of this space, whatever the filters; null if there never was one */
    first_success_day: z.string().nullable(),
  })
  .meta({ id: 'BrowsedLogs' });

export const LogDetail = z
  .object({
    log: LogView.extend({
      oauth_client_id: z.string().nullable(),
      user_id: z.uuid().nullable(),
      secrets_used: z.array(z.string()),
      warnings: z.array(z.string()),
      injected: z.array(z.string()),
      error_detail: z.string().nullable(),
      node_id: z.string().nullable(),
      trace: z.json().nullable(),
    }),
    api_key: z.object({ id: z.uuid(), name: z.string(), key_id: z.string(), active: z.boolean() }).nullable(),
    oauth_client: z.object({ id: z.uuid(), name: z.string(), active: z.boolean() }).nullable(),
    /** Whom the token acted for. */
    person: z.string().nullable(),
    client: z.object({ id: z.uuid(), name: z.string(), type: z.string(), enabled: z.boolean() }).nullable(),
    route: z.object({ id: z.uuid(), name: z.string(), slug: z.string().nullable(), enabled: z.boolean() }).nullable(),
    related: z.array(
      z.object({ id: z.uuid(), action: z.string(), resource_type: z.string(), actor_label: z.string().nullable(), created_at: time() }),
    ),
    payload: z.null(),
    payload_withheld: z.literal(true),
    payload_meta: z.object({
      captured: z.boolean(),
      state: z.enum(PAYLOAD_STATES),
      expires_at: time().nullable(),
      request_bytes: z.number().nullable(),
      response_bytes: z.number().nullable(),
      request_content_type: z.string().nullable(),
      response_content_type: z.string().nullable(),
      request_body_withheld: z.enum(BODY_WITHHELD).nullable(),
      response_body_withheld: z.enum(BODY_WITHHELD).nullable(),
      truncated: z.boolean(),
    }),
  })
  .meta({ id: 'LogDetail' });

const payloadSide = z
  .object({
    headers: z.array(z.object({ name: z.string(), value: z.string() })),
    body: z.string().nullable(),
    encoding: z.enum(['text', 'base64']).nullable(),
  })
  .nullable();

/** A call with what its caller sent and was answered, masked as it was stored (interface rule 13 §6.4). */
export const RevealedLog = LogDetail.extend({
  payload: z.object({ request: payloadSide, response: payloadSide }),
  payload_withheld: z.literal(false),
}).meta({ id: 'RevealedLog' });

export const LogFile = LogRef.extend({ part: z.enum(SIDES).default('response') });

export const LogFacetsQuery = z.object(filters);
const facet = z.array(z.object({ value: z.string(), count: z.number() }));
const namedFacet = z.array(z.object({ value: z.string(), name: z.string().nullable(), count: z.number() }));
/** What one can filter by, with how many of the newest calls each leaves. */
export const LogFacets = z
  .object({
    total: z.number(),
    total_is_capped: z.boolean(),
    status_class: facet,
    method: facet,
    environment: facet,
    error: facet,
    origin: facet,
    outcome: facet,
    proxy_mode: facet,
    route_id: namedFacet,
    client_id: namedFacet,
    api_key_id: namedFacet,
  })
  .meta({ id: 'LogFacets' });

export const ExportLogs = z.object({ ...filters, format: z.enum(['csv', 'ndjson']).default('csv') });
