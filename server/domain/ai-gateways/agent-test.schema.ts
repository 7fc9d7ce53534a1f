import { z } from 'zod';
import { PolicyCallersOrder } from '#server/domain/policies/callers.schema.ts';
import { pathId } from '#server/kernel/fields.ts';
import { model } from './values.schema.ts';

export const TestAiAgent = z.object({
  id: pathId(),
  message: z.string().min(1).max(4_000).default('ping'),
  model: model().optional(),
});

/** What web asks the gateway to do for POST /ai-gateway/agents/{id}/test (interface rule 50 §5.7). */
export const AgentTestOrder = z.object({
  tenant_id: z.uuid(),
  space: z.enum(['live', 'test']),
  agent_id: z.uuid(),
  /** Who tests, as tenant policies see them. */
  callers: PolicyCallersOrder,
  /** Of the person's or key's own call, so that log and audit say the same. */
  request_id: z.uuid(),
  source_address: z.string(),
  message: z.string().min(1).max(4_000),
  model: z.string().min(1).max(200).optional(),
});
export type AgentTestOrder = z.output<typeof AgentTestOrder>;

/** What the gateway found. `status` is what a caller would have got; 0 when the connection broke. */
export const AgentTestReport = z.object({
  ok: z.boolean(),
  status: z.int(),
  code: z.string().nullable(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  latency_ms: z.int(),
  usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }).nullable(),
  /** USD as a decimal text; null when the model has no price, or nothing was used. */
  cost_usd: z.string().nullable(),
  stages: z.array(
    z.object({
      name: z.string(),
      outcome: z.enum(['ok', 'warn', 'refused', 'skipped']),
      code: z.string().optional(),
      detail: z.string().optional(),
    }),
  ),
  /** What the provider said, without our credential. */
  upstream_error: z.string().nullable(),
  answer: z.string().nullable(),
});

export type AgentTestReport = z.output<typeof AgentTestReport>;

export const TestedAiAgent = AgentTestReport.extend({ request_id: z.uuid() }).meta({ id: 'TestedAiAgent' });
