import type { z } from 'zod';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { tellOfPast } from '../history/past.ts';
import { METHODS, OTHER_METHOD } from '../rollups.ts';
import { annotationsOf, mayReadChanges } from './annotations.ts';
import { keptAnswer } from './kept-answers.ts';
import { namesOf } from './names.ts';
import { figuresOfRollups, totalOfRollups } from './rollup-figures.ts';
import { figuresOfRows } from './row-figures.ts';
import type { Analytics } from './schema.ts';
import { type Asked, type Group, pointsOf, type Span, spanOf } from './span.ts';
import { type Dimension, MOST_POINTS, MOST_SERIES } from './words.shared.ts';

/**
 * One metric over a span, by up to two dimensions, with the same figure of the span before (interface rule 70 §6). Read from the rollups where they know
 * what is asked, so that a year costs no more than its quarters of an hour; else from the newest calls, and `covers_from` says since when.
 * The same question within 15 seconds has the same answer.
 * @throws Refusal validation_error
 */
export async function queryAnalytics(ctx: Ctx, asked: Asked): Promise<z.input<typeof Analytics>> {
  const withChanges = await mayReadChanges(ctx);
  if (fromRows(asked)) await tellOfPast(ctx, spanOf(ctx, asked).from, 'These figures');
  return keptAnswer(ctx, [withChanges], asked, () => count(ctx, asked, withChanges));
}

async function count(ctx: Ctx, asked: Asked, withChanges: boolean): Promise<z.input<typeof Analytics>> {
  const span = spanOf(ctx, asked);
  const most = Math.min(MOST_SERIES, Math.floor(MOST_POINTS / pointsOf(span).length));
  if (most < 1) throw invalid('interval', `must give at most ${grouped(MOST_POINTS)} points; choose a longer interval or a shorter time`);
  return read(ctx, async (tx) => {
    const figures = fromRows(asked) ? await figuresOfRows(tx, ctx, asked, span, most) : await figuresOfRollups(tx, ctx, asked, span, most);
    return {
      metric: asked.metric,
      from: span.from,
      to: span.to,
      step_seconds: span.step / 1_000,
      series: await seriesOf(tx, ctx, asked, span, figures.groups),
      left_out: figures.left_out,
      totals: { value: figures.total },
      compared: fromRows(asked) ? null : await comparedOf(tx, ctx, asked, span),
      covers_from: figures.covers_from,
      annotations: withChanges ? await annotationsOf(tx, ctx, span) : [],
    };
  });
}

const has = ({ group_by, client_id, api_key_id }: Asked, name: 'client' | 'api_key') =>
  group_by.includes(name) || (name === 'client' ? client_id : api_key_id) !== undefined;

/** Whether only the calls themselves know what is asked: rollups count a call of a key and a client for both apart, and methods that are none by one name. */
export const fromRows = (asked: Asked): boolean =>
  (has(asked, 'api_key') && (has(asked, 'client') || asked.metric === 'unique_clients')) ||
  (asked.method !== undefined && ![...METHODS, OTHER_METHOD].includes(asked.method.toUpperCase()));

/** Every point of the span: a count of nothing is 0, anything else of nothing is unknown. */
async function seriesOf(tx: Tx, ctx: Ctx, { metric, group_by }: Asked, span: Span, groups: readonly Group[]) {
  const names = await namesOf(tx, ctx, group_by, groups);
  const none = COUNTS.has(metric) ? 0 : null;
  return groups.map(({ values, total, points }) => ({
    key: group_by.map((dimension: Dimension, i) => {
      const value = values[i] ?? null;
      return { dimension, value, name: value === null ? null : (names.get(value) ?? null) };
    }),
    total,
    points: pointsOf(span).map((at): [Date, number | null] => [new Date(at), points.get(at) ?? none]),
  }));
}

export const COUNTS: ReadonlySet<Asked['metric']> = new Set(['requests', 'errors', 'rate_limited', 'bytes', 'unique_clients']);

async function comparedOf(tx: Tx, ctx: Ctx, asked: Asked, { from, to, step }: Span) {
  const before = { from: new Date(2 * from.getTime() - to.getTime()), to: from, step };
  return { from: before.from, to: before.to, value: await totalOfRollups(tx, ctx, asked, before) };
}
