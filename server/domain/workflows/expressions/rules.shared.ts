import { isNumber } from '#server/kernel/lossless-number.ts';
import { isRecord } from '../definition.shared.ts';
import { contains, ordered, sameJson } from './condition.shared.ts';
import { asNumber, asText, keysOf } from './filters.shared.ts';
import { COST, charge, type Meter } from './meter.shared.ts';

export const OPERATORS = [
  'equals',
  'not_equals',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'exists',
  'not_exists',
  'is_empty',
  'matches',
  'in',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** These need no right side. */
export const UNARY: ReadonlySet<string> = new Set<Operator>(['exists', 'not_exists', 'is_empty']);

/** Whether a text has a match of a pattern (RE2). The runtime's own: pages don't evaluate. */
export type Matcher = (pattern: string, text: string, meter: Meter) => Promise<boolean>;

/** One rule of a condition over evaluated sides (interface rule 62 §3.1): a number and a numeric text compare as numbers. */
export function satisfies(
  left: unknown,
  operator: Operator,
  right: unknown,
  { matches, meter }: { matches: Matcher; meter: Meter },
): boolean | Promise<boolean> {
  switch (operator) {
    case 'equals':
      return equal(left, right, meter);
    case 'not_equals':
      return !equal(left, right, meter);
    case 'gt':
      return (ordered(left, right, meter) ?? 0) > 0;
    case 'gte':
      return (ordered(left, right, meter) ?? -1) >= 0;
    case 'lt':
      return (ordered(left, right, meter) ?? 0) < 0;
    case 'lte':
      return (ordered(left, right, meter) ?? 1) <= 0;
    case 'contains':
      return contains(left, right, meter);
    case 'not_contains':
      return !contains(left, right, meter);
    case 'starts_with':
      return typeof left === 'string' && left.startsWith(asText(right, meter));
    case 'ends_with':
      return typeof left === 'string' && left.endsWith(asText(right, meter));
    case 'exists':
      return left !== null && left !== undefined;
    case 'not_exists':
      return left === null || left === undefined;
    case 'is_empty':
      return isEmpty(left, meter);
    case 'matches':
      return matches(asText(right, meter), asText(left, meter), meter);
    case 'in':
      return inList(left, right, meter);
  }
}

function equal(left: unknown, right: unknown, meter: Meter): boolean {
  if (isNumber(left) && typeof right === 'string') return sameJson(left, asNumber(right), meter);
  if (typeof left === 'string' && isNumber(right)) return sameJson(asNumber(left), right, meter);
  return sameJson(left ?? null, right ?? null, meter);
}

function inList(left: unknown, right: unknown, meter: Meter): boolean {
  if (typeof right === 'string') charge(meter, right.length * COST.step);
  const list = Array.isArray(right) ? right : typeof right === 'string' ? right.split(',').map((item) => item.trim()) : [];
  return list.some((item) => equal(left, item, meter));
}

function isEmpty(value: unknown, meter: Meter): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && keysOf(value, meter).length === 0;
}
