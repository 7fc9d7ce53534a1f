import { z } from 'zod';
import { isoTime, label } from '#server/kernel/fields.ts';

// Kinds of fields that gateways, agents and tokens share.

export const STATUSES = ['active', 'paused', 'archived'] as const;
export const MOST_USD = 1_000_000;

/** The name in an address: lowercase letters, digits and dashes. */
export const slug = () =>
  z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be 1 to 63 lowercase letters, digits and dashes, and begin and end with a letter or digit',
    )
    .meta({ examples: ['support-bot'] });

/** An amount of USD, as a number or a decimal text; kept as a text with 2 to 4 decimals. */
export const usd = () =>
  z
    .union([z.number().transform(plain), z.string().max(20)])
    .refine((amount) => /^(?:0|[1-9]\d{0,6})(?:\.\d{1,4})?$/.test(amount) && Number(amount) <= MOST_USD, {
      message: `must be between 0 and ${MOST_USD}, with at most 4 decimals`,
    })
    .transform(decimals)
    .meta({ type: ['number', 'string'], examples: ['50.00'] });

/** Raises both budgets for a while (interface rule 50 §14.4). */
export const budgetBoost = () =>
  z.strictObject({ amount: usd(), until: isoTime(), reason: label(500).nullable().default(null) }).nullable();
/** Percentages of a budget that give an alert. */
export const alertThresholds = () => z.array(z.int().min(1).max(100)).max(5).transform(unique);
export const BudgetBoost = z.object({ amount: z.string(), until: z.string(), reason: z.string().nullable() }).meta({ id: 'AiBudgetBoost' });

/** How an amount is written: at least 2 decimals, at most 4. `null` stays null. */
export const shownUsd = (amount: { toString(): string } | null): string | null => (amount === null ? null : decimals(amount.toString()));

/** A number without an exponent, so that 1e-7 is seen to have too many decimals. */
const plain = (n: number) => (Number.isFinite(n) && Math.abs(n) >= 1e-6 ? String(n) : n === 0 ? '0' : 'not a decimal');

function decimals(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  let kept = fraction.padEnd(2, '0');
  while (kept.length > 2 && kept.endsWith('0')) kept = kept.slice(0, -1);
  return `${Number(whole)}.${kept}`;
}

/** The ID of a model as its provider writes it. */
export const model = () => label(200).meta({ examples: ['claude-sonnet-5'] });

const isNoPrototype = (name: string) => name !== '__proto__';

/** Names of models to models. */
export const modelMap = (most: number) =>
  z
    .record(model(), model())
    .refine((map) => Object.keys(map).length <= most, `must have at most ${most} entries`)
    .refine((map) => Object.keys(map).every(isNoPrototype), 'must not have this name')
    .meta({ type: 'object', additionalProperties: { type: 'string' } });

export const models = (most: number) => z.array(model()).max(most).transform(unique);

/** Labels of usage rows. */
export const tags = () =>
  z
    .record(z.string(), z.string().max(120))
    .refine((map) => Object.keys(map).length <= 20, 'must have at most 20 entries')
    .refine(
      (map) => Object.keys(map).every((key) => /^[a-z0-9_.-]{1,40}$/.test(key) && isNoPrototype(key)),
      'keys must be 1 to 40 lowercase letters, digits, dots, dashes and underscores',
    )
    .refine((map) => Object.values(map).every((value) => !/[\u0000-\u001f\u007f]/.test(value)), 'must not contain control characters')
    .meta({ type: 'object', additionalProperties: { type: 'string', maxLength: 120 }, examples: [{ team: 'support' }] });

export const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];
