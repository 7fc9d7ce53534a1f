import { z } from 'zod';
import { label, pathId, time } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';

const TAG_KEY = /^[a-z0-9_.-]{1,40}$/;
const tagKey = z.string().regex(TAG_KEY, 'must be 1 to 40 lowercase letters, digits, _, . and -');

export const METRICS = ['usd', 'tokens', 'requests'] as const;
export const WINDOWS = ['minute', 'hour', 'day', 'month'] as const;
export const ACTIONS = ['block', 'warn'] as const;

/** Calls that the limit binds: all that is given must match. Empty: every call. */
export const LimitMatch = z
  .strictObject({
    user: label(200).optional(),
    team: label(100).optional(),
    /** Exact, or a prefix that ends in `*`. */
    model: label(200)
      .refine((name) => !name.slice(0, -1).includes('*'), 'may have * at its end only')
      .optional(),
    tag: z.strictObject({ key: tagKey, value: z.string().max(120).optional() }).optional(),
  })
  .meta({ id: 'AiLimitMatch' });

const groupBy = z
  .array(
    z.string().refine((by) => ['user', 'team', 'model'].includes(by) || (by.startsWith('tag:') && TAG_KEY.test(by.slice(4))), {
      message: 'must be user, team, model or tag:<key>',
    }),
  )
  .max(3)
  .refine((by) => new Set(by).size === by.length, 'must not repeat an entry');

/** As it is stored and shown: `007.50` is `7.5`. */
export function plainDecimal(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.');
  const kept = fraction.replace(/0{1,4}$/, '');
  return `${BigInt(whole)}${kept === '' ? '' : `.${kept}`}`;
}

const amount = z
  .union([z.number().transform(String), z.string().max(20)])
  .refine((text) => /^\d{1,12}(?:\.\d{1,4})?$/.test(text), 'must be between 0 and 999999999999, with at most 4 decimals')
  .transform(plainDecimal)
  .meta({ type: ['number', 'string'] });

export const LimitUse = z
  .object({ group: z.array(z.string().nullable()), used: z.number(), reserved: z.number(), utilization_pct: z.number(), resets_at: time() })
  .meta({ id: 'AiLimitUse' });

export const LimitPolicy = z
  .object({
    id: z.uuid(),
    name: z.string(),
    enabled: z.boolean(),
    match: LimitMatch,
    group_by: z.array(z.string()),
    metric: z.enum(METRICS),
    window: z.enum(WINDOWS),
    limit: z.string(),
    action: z.enum(ACTIONS),
    sandbox: z.boolean(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'AiLimitPolicy' });
export const LimitPolicyDetail = LimitPolicy.extend({ use: z.array(LimitUse) }).meta({ id: 'AiLimitPolicyDetail' });

export const ListLimits = listQuery({ sorts: ['created_at', 'name'], sort: 'created_at', order: 'desc', filters: {} });
export const LimitRef = z.object({ id: pathId() });

const members = {
  name: label(100),
  match: LimitMatch,
  group_by: groupBy,
  metric: z.enum(METRICS),
  window: z.enum(WINDOWS),
  limit: amount,
  action: z.enum(ACTIONS),
  enabled: z.boolean(),
};

export const CreateLimit = z.object({
  ...members,
  match: members.match.default({}),
  group_by: members.group_by.default([]),
  action: members.action.default('block'),
  enabled: members.enabled.default(true),
});
export const UpdateLimit = z.object({
  id: pathId(),
  name: members.name.optional(),
  match: members.match.optional(),
  group_by: members.group_by.optional(),
  window: members.window.optional(),
  limit: members.limit.optional(),
  action: members.action.optional(),
  enabled: members.enabled.optional(),
});
