import { z } from 'zod';
import { PolicyCallersOrder } from '#server/domain/policies/callers.schema.ts';

/** What the web process asks of the gateway for a call that came to a receiver: the row of the request log, or a call of a route in its name. */
export const InboundOrder = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('record'),
    tenant_id: z.uuid(),
    sandbox: z.boolean(),
    request_id: z.uuid(),
    ts: z.iso.datetime(),
    path: z.string(),
    src_ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    verified: z.boolean(),
    status_code: z.int(),
    latency_ms: z.int(),
    error: z.string().nullable(),
    upstream_host: z.string().nullable(),
    upstream_status: z.int().nullable(),
    upstream_ms: z.int().nullable(),
    request_bytes: z.int(),
    response_bytes: z.int(),
    header_names: z.string().array(),
  }),
  z.object({
    kind: z.literal('forward'),
    tenant_id: z.uuid(),
    sandbox: z.boolean(),
    request_id: z.uuid(),
    receiver_id: z.uuid(),
    name: z.string(),
    route_id: z.uuid(),
    /** Who set the route, as tenant policies see them. */
    callers: PolicyCallersOrder,
    query: z.string(),
    source_address: z.string(),
    headers: z.tuple([z.string(), z.string()]).array(),
    /** Base64. */
    body: z.string(),
  }),
]);
export type InboundOrder = z.output<typeof InboundOrder>;
export type InboundRecord = Extract<InboundOrder, { kind: 'record' }>;

/** How the route answered; `refused` is our own word when it did not come so far. Null status: no answer in time. */
export const RouteAnswer = z.object({
  status: z.int().nullable(),
  content_type: z.string().nullable(),
  body: z.string(),
  refused: z.string().nullable(),
});
export type RouteAnswer = z.output<typeof RouteAnswer>;
