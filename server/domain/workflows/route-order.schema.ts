import { z } from 'zod';
import { PolicyCallersOrder } from '#server/domain/policies/callers.schema.ts';

// What a worker asks of the gateway beside it, over their private socket: one call of a route in the name of a workflow.

export const RouteOrder = z.object({
  tenant_id: z.uuid(),
  space: z.enum(['live', 'test']),
  workflow_id: z.uuid(),
  /** Everybody behind the run, as tenant policies see them. */
  callers: PolicyCallersOrder,
  request_id: z.uuid(),
  environment: z.string().nullable(),
  method: z.string(),
  /** Path and query, the route's reference first. */
  target: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string().nullable(),
  timeout_ms: z.number(),
});
export type RouteOrder = z.output<typeof RouteOrder>;

/** Null when there was no answer in time. */
export const RouteAnswer = z
  .object({
    status: z.number(),
    headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    /** base64 */
    body: z.string(),
    cut: z.boolean(),
  })
  .nullable();
