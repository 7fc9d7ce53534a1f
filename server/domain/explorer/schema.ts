import { z } from 'zod';
import { time } from '#server/kernel/fields.ts';
import { anyObject } from '#server/kernel/json-fields.ts';

/** Of a header field's value: visible ASCII. Everything else a caller could put into a request is decided by the service. */
const headerValue = z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters');

/** One call of the Management API as the explorer sends it (interface rule 70 §11). */
export const ExplorerSend = z.object({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** Below /v1, e.g. `/routes`; without a query. */
  path: z.string().min(1).max(2_000),
  query: z.record(z.string().max(100), z.string().max(2_000)).default({}),
  body: anyObject().optional(),
  /** The only headers a form may set; every other is refused. */
  headers: z
    .strictObject({
      'Service-Version': headerValue.optional(),
      'Idempotency-Key': headerValue.optional(),
      'If-Match': headerValue.optional(),
    })
    .default({}),
  /** In Live a change must be confirmed. */
  confirmed: z.boolean().default(false),
});

export const ExplorerAnswer = z.object({
  status: z.int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string(),
  duration_ms: z.number(),
  request_id: z.string(),
});

/** A call of one's own, as it can be repeated; secret fields were never kept. */
export const ExplorerCall = z.object({
  id: z.uuid(),
  operation: z.string(),
  method: z.string(),
  path: z.string(),
  query: z.string(),
  body: anyObject().nullable(),
  status: z.int(),
  error: z.string().nullable(),
  duration_ms: z.int(),
  created_at: time(),
});

export const ExplorerHistory = z.object({ calls: z.array(ExplorerCall) });

/** An operation as the dashboard lists it. `path` is below /v1 for public ones, else of the dashboard's own plane. */
export const ListedOperation = z.object({
  id: z.string(),
  /** Its tRPC procedure; null for feeds and downloads. */
  procedure: z.string().nullable(),
  method: z.string(),
  path: z.string(),
  summary: z.string(),
  public: z.boolean(),
  /** Capabilities that the operation names. */
  needs: z.array(z.string()),
  /** Of its success. */
  status: z.int(),
});
export type ListedOperation = z.output<typeof ListedOperation>;
