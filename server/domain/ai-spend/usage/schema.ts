import { z } from 'zod';
import { uuid } from '#server/kernel/fields.ts';

export const PERIODS = { '7d': 7, '30d': 30, '90d': 90 } as const;
export const MOST_DAYS = 366;

/** What usage is grouped by: a tag by `tag:<key>`. */
export const GROUPS = ['user', 'team', 'agent', 'model', 'provider', 'gateway', 'day', 'token', 'mcp_server'] as const;
export type Group = (typeof GROUPS)[number] | `tag:${string}`;

const group = z
  .string()
  .max(50)
  .refine((by): by is Group => (GROUPS as readonly string[]).includes(by) || /^tag:[a-z0-9_.-]{1,40}$/.test(by), {
    message: `must be one of ${GROUPS.join(', ')}, or tag:<key>`,
  })
  .meta({ type: 'string', examples: ['team'] });

const period = {
  period: z.enum(['7d', '30d', '90d']).optional(),
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
};
const filters = { agent_id: uuid().optional(), gateway_id: uuid().optional() };

export const UsageQuery = z.object({ ...period, ...filters, granularity: z.enum(['day']).optional() });
export const BreakdownQuery = z.object({ ...period, ...filters, group_by: group });
export const ExportUsage = BreakdownQuery.extend({ format: z.enum(['json', 'csv']).default('json') });

const figures = {
  requests: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.number(),
  unpriced_requests: z.number(),
};
const allFigures = {
  ...figures,
  cached_input_tokens: z.number(),
  cache_write_tokens: z.number(),
  reasoning_tokens: z.number(),
  cache_hits: z.number(),
  refused_requests: z.number(),
  errors: z.number(),
  estimated_requests: z.number(),
};

export const UsageTotals = z.object(allFigures).meta({ id: 'AiUsageTotals' });
export const ModelUsage = z.object({ provider: z.string(), model: z.string(), ...allFigures }).meta({ id: 'AiModelUsage' });
export const DayUsage = z.object({ date: z.string(), ...allFigures }).meta({ id: 'AiDayUsage' });
export const AgentUsage = z
  .object({ agent_id: z.uuid().nullable(), agent_name: z.string().nullable(), ...allFigures })
  .meta({ id: 'AiAgentUsage' });

export const Usage = z
  .object({
    period_days: z.number(),
    from: z.string(),
    to: z.string(),
    by_model: z.array(ModelUsage),
    by_day: z.array(DayUsage).optional(),
    by_agent: z.array(AgentUsage).optional(),
    totals: UsageTotals,
  })
  .meta({ id: 'AiUsage' });

export const UsageGroup = z
  .object({ group: z.string().nullable(), ...figures, group_label: z.string().nullable() })
  .meta({ id: 'AiUsageGroup' });
export const UsageExport = z
  .object({ group_by: z.string(), period_days: z.number(), from: z.string(), to: z.string(), rows: z.array(UsageGroup) })
  .meta({ id: 'AiUsageExport' });
