import { z } from 'zod';
import { isoTime, time, uuid } from '#server/kernel/fields.ts';
import { statusFilters, word } from './schema.ts';
import { SPLITS } from './span.shared.ts';

// What is counted over many calls: the chart and its totals, how much each thing was used, days, and what failed.

export const LogStatsQuery = z.object({
  from: isoTime().optional(),
  to: isoTime().optional(),
  route_id: uuid().optional(),
  /** calls of the routes that are in the collection now */
  collection_id: uuid().optional(),
  environment: word.optional(),
  client_id: uuid().optional(),
  api_key_id: uuid().optional(),
  ...statusFilters,
});
const latency = z.object({ p50: z.number().nullable(), p95: z.number().nullable(), p99: z.number().nullable() });
const counts = { total: z.number(), c2xx: z.number(), c3xx: z.number(), c4xx: z.number(), c5xx: z.number(), other: z.number() };
export const LogStats = z
  .object({
    from: time(),
    to: time(),
    step_seconds: z.number(),
    series: z.array(z.object({ at: time(), ...counts, errors: z.number() })),
    totals: z.object({
      ...counts,
      errors: z.number(),
      rate_limited: z.number(),
      bytes_in: z.number(),
      bytes_out: z.number(),
      /** calls of the Test tab: rows of the log, but in none of the figures */
      trials: z.number(),
    }),
    latency,
    upstream_latency: latency,
    top_routes: z.array(
      z.object({
        route_id: z.uuid().nullable(),
        name: z.string().nullable(),
        count: z.number(),
        errors: z.number(),
        p95: z.number().nullable(),
      }),
    ),
    error_codes: z.array(z.object({ error: z.string(), count: z.number() })),
    /** of the newest calls; null without a database of countries, and for who may not see who called */
    countries: z
      .object({
        /** most calls first; a country of null is one that is not known */
        calls: z.array(z.object({ country: z.string().nullable(), count: z.number() })),
        /** calls they are taken from; there may be older ones when it is capped */
        of_newest: z.number(),
        is_capped: z.boolean(),
      })
      .nullable(),
  })
  .meta({ id: 'LogStats' });

export const TRAFFIC_KINDS = ['api_key', 'client', 'secret', 'environment', 'route'] as const;
/** Ids of one kind, at most a page of them; in a query string they stand behind each other with commas. */
export const LogTrafficQuery = z.object({
  kind: z.enum(TRAFFIC_KINDS),
  ids: z.union([
    z.array(uuid()).max(100),
    z
      .string()
      .max(4_000)
      .transform((text) => text.split(',').filter(Boolean))
      .pipe(z.array(uuid()).max(100)),
  ]),
});
/** How much each was used; one entry for each id that was, in no order. */
export const LogTraffic = z
  .object({
    traffic: z.array(
      z.object({
        id: z.uuid(),
        /** null for secrets, which are counted by the day. */
        calls_24h: z.number().nullable(),
        errors_24h: z.number().nullable(),
        calls_30d: z.number(),
        errors_30d: z.number(),
        last_at: time().nullable(),
      }),
    ),
  })
  .meta({ id: 'LogTraffic' });

/** Days in UTC, both included; without them the current month. `by` asks for the days of the largest of a kind besides. */
export const LogDaysQuery = z.object({ from: z.iso.date().optional(), to: z.iso.date().optional(), by: z.enum(SPLITS).optional() });
export const ExportDays = z.object({ from: z.iso.date().optional(), to: z.iso.date().optional(), by: z.enum(SPLITS).default('route') });
const dayFigures = { calls: z.number(), errors: z.number(), /** what the plan's counter took */ counted: z.number() };
const share = z.object({ id: z.uuid().nullable(), name: z.string().nullable(), ...dayFigures });
export const LogDays = z
  .object({
    from: z.string(),
    to: z.string(),
    days: z.array(z.object({ day: z.string(), ...dayFigures })),
    routes: z.array(share),
    clients: z.array(share),
    api_keys: z.array(share),
    environments: z.array(share),
    /** the largest of the kind asked for with `by`, each with a figure for every day of `days` */
    series: z.array(
      z.object({ id: z.uuid().nullable(), name: z.string().nullable(), calls: z.array(z.number()), counted: z.array(z.number()) }),
    ),
  })
  .meta({ id: 'LogDays' });

export const LogFailuresQuery = z.object({ from: isoTime().optional(), to: isoTime().optional() });
export const LogFailures = z
  .object({
    groups: z.array(
      z.object({
        route_id: z.uuid().nullable(),
        route_name: z.string().nullable(),
        status_code: z.number().nullable(),
        error: z.string().nullable(),
        count: z.number(),
        first_at: time(),
        last_at: time(),
        /** not seen in the equally long time before */
        is_new: z.boolean(),
      }),
    ),
    /** calls we refused ourselves */
    blocked: z.number(),
    is_capped: z.boolean(),
    overhead_ms: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }),
  })
  .meta({ id: 'LogFailures' });
