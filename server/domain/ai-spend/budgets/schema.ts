import { z } from 'zod';
import { time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';
import { ALERT_KINDS } from '../alert-events.shared.ts';

export const Budget = z
  .object({
    scope: z.enum(['gateway', 'agent']),
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    gateway_id: z.uuid(),
    status: z.string(),
    period: z.enum(['daily', 'monthly']),
    /** As it is set; null without a cap. */
    cap_usd: z.string().nullable(),
    /** Added to it for now. */
    boost_usd: z.string().nullable(),
    spent_usd: z.number(),
    reserved_usd: z.number(),
    tokens: z.number(),
    utilization_pct: z.number().nullable(),
    resets_at: time(),
  })
  .meta({ id: 'AiBudget' });

export const ListBudgets = z.object({ gateway_id: uuid().optional(), agent_id: uuid().optional() });

export const BudgetAlert = z
  .object({
    id: z.uuid(),
    kind: z.enum(ALERT_KINDS),
    scope: z.string(),
    subject_id: z.string(),
    period: z.string(),
    period_start: time(),
    threshold_pct: z.number(),
    spent_usd: z.number().nullable(),
    limit_usd: z.number().nullable(),
    error_rate: z.number().nullable(),
    /** Of an alert about a model without a price. */
    provider: z.string().nullable(),
    model: z.string().nullable(),
    created_at: time(),
  })
  .meta({ id: 'AiAlert' });

export const ListAlerts = z.object({ ...pageQuery });
