import { z } from 'zod';
import { atLeastOne, label, pathId, text, time } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { alertThresholds, BudgetBoost, budgetBoost, modelMap, STATUSES, slug, usd } from './values.schema.ts';

export const OVERAGE_ACTIONS = ['block', 'warn'] as const;
export const USER_ATTRIBUTIONS = ['off', 'optional', 'required'] as const;

/** Budget, aliases and kill switch over the agents and MCP servers in it (interface rule 50 §3). Amounts are decimal texts. */
export const AiGateway = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    budget_daily_usd: z.string().nullable(),
    budget_monthly_usd: z.string().nullable(),
    budget_overage_action: z.enum(OVERAGE_ACTIONS),
    budget_boost: BudgetBoost.nullable(),
    alert_thresholds: z.array(z.number()),
    model_aliases: z.record(z.string(), z.string()),
    user_attribution: z.enum(USER_ATTRIBUTIONS),
    status: z.enum(STATUSES),
    paused_reason: z.string().nullable(),
    sandbox: z.boolean(),
    created_at: time(),
    updated_at: time(),
    created_by: z.uuid().nullable(),
  })
  .meta({ id: 'AiGateway' });

const aliases = () =>
  modelMap(100).refine(
    (map) => Object.values(map).every((target) => !Object.hasOwn(map, target)),
    'must not name another alias as its model: aliases are not followed twice',
  );

const settings = {
  name: label(100),
  description: text(1_000),
  budget_daily_usd: usd().nullable(),
  budget_monthly_usd: usd().nullable(),
  budget_overage_action: z.enum(OVERAGE_ACTIONS),
  budget_boost: budgetBoost(),
  alert_thresholds: alertThresholds(),
  model_aliases: aliases(),
  user_attribution: z.enum(USER_ATTRIBUTIONS),
};

export const CreateAiGateway = z.object(settings).partial().extend({ name: settings.name, slug: slug() });

/** The slug is in addresses that others hold, and stays. */
export const UpdateAiGateway = atLeastOne(z.object(settings).partial().extend({ id: pathId() }));

export const ListAiGateways = listQuery({
  sorts: ['created_at', 'name'],
  sort: 'created_at',
  order: 'desc',
  filters: { status: z.enum(STATUSES).optional() },
});

export const AiGatewayRef = z.object({ id: pathId() });
export const PauseAi = z.object({ id: pathId(), reason: text(500).optional() });

/** What archiving answers: the row stays, and is in no list. */
export const ArchivedAi = z.object({ deleted: z.literal(true), id: z.uuid(), status: z.literal('archived') }).meta({ id: 'ArchivedAi' });

/** What an agent can be composed for. */
export const AiProvider = z
  .object({
    id: z.string(),
    label: z.string(),
    /** Whether `upstream` must be sent: every tenant has an address of its own. */
    needs_upstream: z.boolean(),
    /** Where it is called without an `upstream`. */
    default_upstream: z.string().nullable(),
    /** Whether `upstream_secret_id` must be sent. */
    needs_secret: z.boolean(),
    needs_default_model: z.boolean(),
    shapes: z.array(z.string()),
    default_model: z.string().nullable(),
  })
  .meta({ id: 'AiProvider' });
