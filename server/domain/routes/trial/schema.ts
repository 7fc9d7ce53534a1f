import { z } from 'zod';
import { PolicyCallersOrder } from '#server/domain/policies/callers.schema.ts';
import { METHODS, SIGNATURE_SCHEMES } from '../config/schema.ts';

// What web and gateway say to each other about a trial of a route, over their private socket.

/** One request to try: `target` is path and query as a caller would write them behind the route's name, `body` is base64. */
export const TrialOrder = z.object({
  tenant_id: z.uuid(),
  space: z.enum(['live', 'test']),
  user_id: z.uuid().nullable(),
  /** Who tests, as tenant policies see them. */
  callers: PolicyCallersOrder,
  request_id: z.uuid(),
  route_id: z.uuid(),
  environment: z.string().nullable(),
  method: z.enum(METHODS),
  target: z.string(),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string(),
  dry_run: z.boolean(),
  source_address: z.string(),
});
export type TrialOrder = z.output<typeof TrialOrder>;

const pairs = z.array(z.object({ name: z.string(), value: z.string() }));
/** A body that cannot be searched for the values of secrets is withheld: a part of one, an encoding that cannot be opened, bytes that are no text, or escapes within escapes that take too long. */
export const WITHHELD = ['partial', 'compressed', 'binary', 'complex'] as const;
export type Withheld = (typeof WITHHELD)[number];
const body = {
  body: z.string(),
  body_encoding: z.enum(['text', 'base64', 'withheld']),
  /** Why `body_encoding` is `withheld`; else null. */
  withheld_reason: z.enum(WITHHELD).nullable(),
  truncated: z.boolean(),
};
const milliseconds = z.number();

/** What a trial led to; every value of a secret in it is masked as `[redacted:secret:NAME]`. */
export const TrialReport = z.object({
  /** As it went to the upstream, or would have; null when it was refused before. */
  request: z.object({ method: z.string(), url: z.string(), headers: pairs, ...body }).nullable(),
  /** What a caller would have got; null for a dry run. */
  response: z.object({ status: z.number().int(), headers: pairs, ...body, bytes: z.number().int() }).nullable(),
  timings: z.object({ total_ms: milliseconds, upstream_ms: milliseconds.nullable(), overhead_ms: milliseconds }),
  phases_ms: z.record(z.string(), milliseconds),
  limits: z.record(z.string(), z.object({ limit: z.number(), remaining: z.number() })),
  refusal: z.object({ status: z.number().int(), code: z.string(), message: z.string() }).nullable(),
  /** What a caller would have had to meet besides a valid key, and whether one from this person's address would have. */
  checks: z.object({
    requires_clients: z.object({ required: z.boolean(), met: z.boolean(), client: z.string().nullable() }),
    ip_allowlist: z.object({ required: z.boolean(), met: z.boolean() }),
    /** Tests aren't signed: callers have to. */
    require_signature: z.object({ required: z.boolean(), scheme: z.enum(SIGNATURE_SCHEMES).nullable() }),
  }),
  injected: z.array(z.string()),
  secrets_used: z.array(z.string()),
  warnings: z.array(z.string()),
  attempts: z.number().int(),
  environment: z.string().nullable(),
});
export type TrialReport = z.output<typeof TrialReport>;
