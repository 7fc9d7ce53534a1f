import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import { spanStart } from '../span.shared.ts';
import type { AnalyticsQuery } from './schema.ts';
import { INTERVALS } from './words.shared.ts';

const DAY = 24 * 3_600_000;
const LONGEST = 400 * DAY;
/** Points of a series that `auto` aims below. */
const AUTO_POINTS = 200;

export type Asked = z.output<typeof AnalyticsQuery>;
/** Milliseconds of the epoch; points lie at whole steps. */
export type Span = { from: Date; to: Date; step: number };
/** A group's figure over the whole span and at each point that has one, by the time it begins. */
export type Group = { values: (string | null)[]; total: number | null; points: Map<number, number | null> };
export type Figures = { groups: Group[]; left_out: number; total: number | null; covers_from: Date };

/** @throws Refusal validation_error */
export function spanOf(ctx: Ctx, { from, to, interval }: Asked): Span {
  const end = to ? new Date(to) : ctx.now;
  const begin = from ? new Date(from) : spanStart(end.getTime(), DAY);
  const length = end.getTime() - begin.getTime();
  if (length <= 0 || length > LONGEST) throw invalid('from', 'must be before to, by at most 400 days');
  const steps = Object.values(INTERVALS);
  const seconds = interval === 'auto' ? (steps.find((one) => length / 1_000 / one <= AUTO_POINTS) ?? INTERVALS['1d']) : INTERVALS[interval];
  return { from: begin, to: end, step: seconds * 1_000 };
}

/** When each point of a series begins; the first may begin before the span does. */
export function pointsOf({ from, to, step }: Span): number[] {
  const first = Math.floor(from.getTime() / step) * step;
  return Array.from({ length: Math.ceil((to.getTime() - first) / step) }, (_, i) => first + i * step);
}
