import { z } from 'zod';
import { isoTime, pathId, queryInt, time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';

// The calls as /v1 tells them: the feed of a space, and the list of one route. What the dashboard makes of them has schemas of its own beside this one.

/** A value of a column that is a word of ours or of the caller. */
export const word = z.string().min(1).max(100);

/** One status code, or a class of them, which may be written as `4` and as `4xx`. */
export const statusFilters = {
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
};

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
