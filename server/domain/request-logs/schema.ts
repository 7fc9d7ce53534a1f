import { z } from 'zod';
import { flag, isoTime, pathId, queryInt, time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';
import { OUTCOMES, SPLITS } from './span.shared.ts';

const word = z.string().min(1).max(100);

/** Calls of no route are counted under it. */
export const NO_ROUTE = '00000000-0000-0000-0000-000000000000';

/** Members that only a holder of log:read_identity sees; for others they are absent, not null (interface rule 13 §2.1). */
export const IDENTITY_FIELDS = ['matched_client_id', 'identification_method', 'src_ip', 'client_name', 'user_agent'] as const;

/** A row of the feed: the twelve fields of the Merkle leaf first, in their order. */
export const RequestLog = z
  .object({
    id: z.string(),
    request_id: z.uuid(),
    tenant_id: z.uuid(),
    route_id: z.uuid().nullable(),
    matched_client_id: z.uuid().nullable().optional(),
    identification_method: z.string().nullable().optional(),
    method: z.string().nullable(),
    status_code: z.number().nullable(),
    src_ip: z.string().nullable().optional(),
    environment: z.string().nullable(),
    sandbox: z.boolean().nullable(),
    ts: time(),
    path: z.string().nullable(),
    latency_ms: z.number().nullable(),
    upstream_host: z.string().nullable(),
    error: z.string().nullable(),
    rate_limited: z.boolean().nullable(),
    proxy_mode: z.string().nullable(),
    client_origin: z.string(),
    cursor: z.string(),
    origin: z.string().nullable(),
    upstream_status: z.number().nullable(),
    upstream_ms: z.number().nullable(),
    attempts: z.number().nullable(),
    request_bytes: z.number().nullable(),
    response_bytes: z.number().nullable(),
    slug: z.string().nullable(),
    route_name: z.string().nullable(),
    client_name: z.string().nullable().optional(),
    user_agent: z.string().nullable().optional(),
    signature_valid: z.boolean().nullable(),
  })
  .meta({ id: 'RequestLog' });

export const RequestLogRecord = RequestLog.extend({ _redacted: z.array(z.string()).optional() }).meta({ id: 'RequestLogRecord' });

export const FollowLogs = z.object({
  cursor: z.string().max(600).optional(),
  limit: queryInt(1, 1000).default(100),
  route_id: uuid().optional(),
  status_code: queryInt(100, 599).optional(),
  environment: word.optional(),
  method: word.optional(),
  proxy_mode: word.optional(),
  client_id: uuid().optional(),
  error: word.optional(),
  since: isoTime().optional(),
});

export const LogRef = z.object({ request_id: pathId() });

const proofStep = z.object({ hash: z.string(), right: z.boolean() });
export const PROOF_REASONS = [
  'not_yet_anchored',
  'range_incomplete',
  'range_grew',
  'root_mismatch',
  'row_not_in_range',
  'anchor_range_too_large',
] as const;
/** A row with what shows that it existed unaltered (interface rule 13 §5.3). */
export const LogProof = RequestLogRecord.extend({
  anchored: z.boolean(),
  verified: z.boolean().optional(),
  reason: z.enum(PROOF_REASONS).optional(),
  detail: z.string().optional(),
  anchor: z
    .object({
      id: z.uuid(),
      sequence_number: z.string(),
      anchored_at: time(),
      algo: z.string(),
      merkle_root: z.string(),
      leaf_count: z.number(),
      from_id: z.string(),
      to_id: z.string(),
      chain_row_hash: z.string().nullable(),
    })
    .optional(),
  observed_leaf_count: z.number().optional(),
  recomputed_root: z.string().optional(),
  leaf_index: z.number().optional(),
  leaf_hash: z.string().optional(),
  proof: z.array(proofStep).optional(),
  verification: z.object({ algo: z.string(), leaf_fields: z.array(z.string()), note: z.string() }),
}).meta({ id: 'LogProof' });

/** A row of a route's list (interface rule 13 §2.2): identity is null here when it is withheld. */
export const RouteLog = z
  .object({
    id: z.string(),
    request_id: z.uuid(),
    ts: time(),
    src_ip: z.string().nullable(),
    method: z.string().nullable(),
    path: z.string().nullable(),
    status_code: z.number().nullable(),
    latency_ms: z.number().nullable(),
    upstream_host: z.string().nullable(),
    error: z.string().nullable(),
    environment: z.string().nullable(),
    rate_limited: z.boolean(),
    signature_valid: z.boolean().nullable(),
    source_ip_country: z.string().nullable(),
    source_ip_city: z.string().nullable(),
  })
  .meta({ id: 'RouteLog' });

export const ListRouteLogs = z.object({
  id: pathId(),
  ...pageQuery,
  environment: word.optional(),
  status_code: queryInt(100, 599).optional(),
  method: word.optional(),
  since: isoTime().optional(),
  until: isoTime().optional(),
});

/** An address or a CIDR range. */
const addressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must be an IP address or a CIDR range');

const filters = {
  from: isoTime().optional(),
  to: isoTime().optional(),
  status: queryInt(100, 599).optional(),
  status_class: z
    .union(
      [
        queryInt(2, 5),
        z
          .string()
          .regex(/^[2-5]xx$/)
          .transform((v) => Number(v[0])),
      ],
      'must be one of 2xx, 3xx, 4xx, 5xx',
    )
    .optional(),
  method: word.optional(),
  route_id: uuid().optional(),
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
    .regex(/^\d{1,15}-\d{1,18}$/, 'is not a place in this list: start again without it')
    .optional(),
});

/** A row of the dashboard's table: every role sees all of it (interface rule 00, request logs). */
export const LogView = RequestLog.omit({ cursor: true }).extend({ api_key_id: z.uuid().nullable() }).meta({ id: 'LogView' });
export const BrowsedLogs = z
  .object({
    logs: z.array(LogView),
    page: z.number(),
    per_page: z.number(),
    total: z.number(),
    total_is_capped: z.boolean(),
    next: z.string().nullable(),
    /** the first day (UTC) of a call of this space that is still known of, however narrow the filters; null when there never was one */
    first_day: z.string().nullable(),
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
    client: z.object({ id: z.uuid(), name: z.string(), type: z.string(), enabled: z.boolean() }).nullable(),
    route: z.object({ id: z.uuid(), name: z.string(), slug: z.string().nullable(), enabled: z.boolean() }).nullable(),
    related: z.array(
      z.object({ id: z.uuid(), action: z.string(), resource_type: z.string(), actor_label: z.string().nullable(), created_at: time() }),
    ),
    payload: z.null(),
    payload_withheld: z.boolean(),
    payload_meta: z.object({
      captured: z.boolean(),
      request_bytes: z.number().nullable(),
      response_bytes: z.number().nullable(),
      request_content_type: z.string().nullable(),
      response_content_type: z.string().nullable(),
      truncated: z.boolean(),
    }),
  })
  .meta({ id: 'LogDetail' });

export const LogStatsQuery = z.object({
  from: isoTime().optional(),
  to: isoTime().optional(),
  route_id: uuid().optional(),
  environment: word.optional(),
  client_id: uuid().optional(),
  api_key_id: uuid().optional(),
});
const latency = z.object({ p50: z.number().nullable(), p95: z.number().nullable(), p99: z.number().nullable() });
const counts = { total: z.number(), c2xx: z.number(), c3xx: z.number(), c4xx: z.number(), c5xx: z.number(), other: z.number() };
export const LogStats = z
  .object({
    from: time(),
    to: time(),
    step_seconds: z.number(),
    series: z.array(z.object({ at: time(), ...counts, errors: z.number() })),
    totals: z.object({
      ...counts,
      errors: z.number(),
      rate_limited: z.number(),
      bytes_in: z.number(),
      bytes_out: z.number(),
      /** calls of the Test tab: rows of the log, but in none of the figures */
      trials: z.number(),
    }),
    latency,
    upstream_latency: latency,
    top_routes: z.array(
      z.object({
        route_id: z.uuid().nullable(),
        name: z.string().nullable(),
        count: z.number(),
        errors: z.number(),
        p95: z.number().nullable(),
      }),
    ),
    error_codes: z.array(z.object({ error: z.string(), count: z.number() })),
  })
  .meta({ id: 'LogStats' });

export const TRAFFIC_KINDS = ['api_key', 'client', 'secret', 'environment', 'route'] as const;
/** Ids of one kind, at most a page of them; in a query string they stand behind each other with commas. */
export const LogTrafficQuery = z.object({
  kind: z.enum(TRAFFIC_KINDS),
  ids: z.union([
    z.array(uuid()).max(100),
    z
      .string()
      .max(4_000)
      .transform((text) => text.split(',').filter(Boolean))
      .pipe(z.array(uuid()).max(100)),
  ]),
});
/** How much each was used; one entry for each id that was, in no order. */
export const LogTraffic = z
  .object({
    traffic: z.array(
      z.object({
        id: z.uuid(),
        /** null for secrets, which are counted by the day. */
        calls_24h: z.number().nullable(),
        errors_24h: z.number().nullable(),
        calls_30d: z.number(),
        errors_30d: z.number(),
        last_at: time().nullable(),
      }),
    ),
  })
  .meta({ id: 'LogTraffic' });

/** Days in UTC, both included; without them the current month. `by` asks for the days of the largest of a kind besides. */
export const LogDaysQuery = z.object({ from: z.iso.date().optional(), to: z.iso.date().optional(), by: z.enum(SPLITS).optional() });
export const ExportDays = z.object({ from: z.iso.date().optional(), to: z.iso.date().optional(), by: z.enum(SPLITS).default('route') });
const dayFigures = { calls: z.number(), errors: z.number(), /** what the plan's counter took */ counted: z.number() };
const share = z.object({ id: z.uuid().nullable(), name: z.string().nullable(), ...dayFigures });
export const LogDays = z
  .object({
    from: z.string(),
    to: z.string(),
    days: z.array(z.object({ day: z.string(), ...dayFigures })),
    routes: z.array(share),
    clients: z.array(share),
    api_keys: z.array(share),
    environments: z.array(share),
    /** the largest of the kind asked for with `by`, each with a figure for every day of `days` */
    series: z.array(
      z.object({ id: z.uuid().nullable(), name: z.string().nullable(), calls: z.array(z.number()), counted: z.array(z.number()) }),
    ),
  })
  .meta({ id: 'LogDays' });

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

export const LogFailuresQuery = z.object({ from: isoTime().optional(), to: isoTime().optional() });
export const LogFailures = z
  .object({
    groups: z.array(
      z.object({
        route_id: z.uuid().nullable(),
        route_name: z.string().nullable(),
        status_code: z.number().nullable(),
        error: z.string().nullable(),
        count: z.number(),
        first_at: time(),
        last_at: time(),
        /** not seen in the equally long time before */
        is_new: z.boolean(),
      }),
    ),
    /** calls we refused ourselves */
    blocked: z.number(),
    is_capped: z.boolean(),
    overhead_ms: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }),
  })
  .meta({ id: 'LogFailures' });

export const ExportLogs = z.object({ ...filters, format: z.enum(['csv', 'ndjson']).default('csv') });
