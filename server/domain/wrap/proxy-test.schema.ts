import { z } from 'zod';
import { PolicyCallersOrder } from '#server/domain/policies/callers.schema.ts';
import { METHODS } from '#server/domain/routes/config/schema.ts';
import { WITHHELD } from '#server/domain/routes/trial/schema.ts';
import { secret } from '#server/kernel/fields.ts';

const LONGEST_BODY = 256 * 1024;
const ascii = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII');
const header = z.object({
  name: z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, 'must be a header name of at most 64 characters'),
  value: secret(ascii(8_192)),
});

/** One call of the ephemeral proxy to try, or with `dry_run` to look at: then nothing is opened and nothing is sent. */
export const TestProxyCall = z.object({
  url: ascii(8_192).min(1),
  method: z.enum(METHODS).default('GET'),
  headers: z.array(header).max(50).default([]),
  body: z.string().max(LONGEST_BODY).optional(),
  /** What X-Svc-Encrypted would hold: a JSON text. */
  encrypted: secret(z.string().max(16 * 1024)).optional(),
  /** Name or ID of a wrap credential. */
  secret: ascii(128).min(1).optional(),
  environment: ascii(63).min(1).optional(),
  dry_run: z.boolean().default(false),
});

export const ProxyTestOrder = TestProxyCall.extend({
  tenant_id: z.uuid(),
  space: z.enum(['live', 'test']),
  user_id: z.uuid().nullable(),
  /** Who tests, as tenant policies see them. */
  callers: PolicyCallersOrder,
  request_id: z.uuid(),
  source_address: z.string(),
});
export type ProxyTestOrder = z.output<typeof ProxyTestOrder>;

/** `later`: only a call with a key tells. A person never opens vault tokens, and whether one exists is not told either. */
export const PLACEHOLDER_STATES = ['resolves', 'fails', 'later'] as const;

export const ProxyTestReport = z.object({
  placeholders: z.array(
    z.object({
      /** `query`, `body`, or the name of a header. */
      place: z.string(),
      expression: z.string(),
      state: z.enum(PLACEHOLDER_STATES),
      detail: z.string(),
    }),
  ),
  /** Null when the call was, or would be, sent. */
  refusal: z.object({ status: z.int(), code: z.string(), message: z.string() }).nullable(),
  /** Null for a dry run; every value of a secret in it is masked. */
  response: z
    .object({
      status: z.int(),
      headers: z.array(z.object({ name: z.string(), value: z.string() })),
      body: z.string(),
      body_encoding: z.enum(['text', 'base64', 'withheld']),
      withheld_reason: z.enum(WITHHELD).nullable(),
      truncated: z.boolean(),
    })
    .nullable(),
  latency_ms: z.int(),
  secrets_used: z.array(z.string()),
});
export type ProxyTestReport = z.output<typeof ProxyTestReport>;

export const TestedProxyCall = ProxyTestReport.extend({ request_id: z.uuid() }).meta({ id: 'TestedProxyCall' });
