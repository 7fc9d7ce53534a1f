import { z } from 'zod';
import { isoTime, time, uuid } from '#server/kernel/fields.ts';
import { statusFilters, word } from '../schema.ts';
import { DIMENSIONS, INTERVALS, METRICS } from './words.shared.ts';

/** Up to two dimensions; in a query string with a comma between them. */
const dimensions = z
  .union([
    z.array(z.enum(DIMENSIONS)),
    z
      .string()
      .max(60)
      .transform((text) => text.split(',').filter(Boolean))
      .pipe(z.array(z.enum(DIMENSIONS))),
  ])
  .refine((names) => names.length <= 2 && new Set(names).size === names.length, 'must be at most two different dimensions');

export const AnalyticsQuery = z.object({
  metric: z.enum(METRICS),
  group_by: dimensions.default([]),
  from: isoTime().optional(),
  to: isoTime().optional(),
  interval: z.enum(['auto', ...(Object.keys(INTERVALS) as [keyof typeof INTERVALS])]).default('auto'),
  route_id: uuid().optional(),
  collection_id: uuid().optional(),
  environment: word.optional(),
  client_id: uuid().optional(),
  api_key_id: uuid().optional(),
  status_class: statusFilters.status_class,
  method: word.optional(),
  origin: z.enum(['upstream', 'service']).optional(),
  plane: word.optional(),
  error: word.optional(),
});

/** `value` is an ID or a word; null stands for calls that have none. */
const part = z.object({ dimension: z.enum(DIMENSIONS), value: z.string().nullable(), name: z.string().nullable() });
/** A time and the figure from then to the next time; null where there was nothing to measure. */
const point = z.tuple([time(), z.number().nullable()]);

export const Analytics = z
  .object({
    metric: z.enum(METRICS),
    from: time(),
    to: time(),
    step_seconds: z.number(),
    series: z.array(z.object({ key: z.array(part), total: z.number().nullable(), points: z.array(point) })),
    /** groups beyond those of `series`, the smallest ones */
    left_out: z.number(),
    /** of all calls asked about */
    totals: z.object({ value: z.number().nullable() }),
    /** the same of the equally long time before; null when the log does not reach back that far for this figure */
    compared: z.object({ from: time(), to: time(), value: z.number().nullable() }).nullable(),
    /** when the oldest call was received that is counted; later than `from` when only the newest calls could be */
    covers_from: time(),
    /** changes of configuration in this time, the newest fifty; none for who may not read the audit log */
    annotations: z.array(
      z.object({
        at: time(),
        action: z.string(),
        resource_type: z.string(),
        resource_id: z.string().nullable(),
        actor_label: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Analytics' });
