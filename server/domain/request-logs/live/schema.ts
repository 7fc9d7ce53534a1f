import { z } from 'zod';
import { time } from '#server/kernel/fields.ts';

export const LiveQuery = z.object({
  /** where calls came from and went to as well, for who may see who called */
  places: z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')]).default(false),
});

/** City level: a tenth of a degree. */
const spot = z.object({ lat: z.number(), lon: z.number(), country: z.string().nullable(), city: z.string().nullable() });

export const LiveCalls = z
  .object({
    /** the newest, at most 40, of the last ten minutes */
    calls: z.array(
      z.object({
        request_id: z.uuid(),
        at: time(),
        method: z.string().nullable(),
        route_id: z.uuid().nullable(),
        route_name: z.string().nullable(),
        status_code: z.number().nullable(),
        latency_ms: z.number().nullable(),
        error: z.string().nullable(),
        /** null when it is not known, and when no places are told */
        from: spot.nullable(),
        to: spot.nullable(),
      }),
    ),
    /** the last fifteen minutes, the oldest first, the minute at hand last */
    minutes: z.array(z.object({ at: time(), calls: z.number(), errors: z.number() })),
    /** routes that were called in these minutes */
    active_routes: z.number(),
    /** `hidden`: not asked for; `not_allowed`: the reader may not see who called; `unavailable`: there is no database of places */
    places: z.enum(['shown', 'hidden', 'not_allowed', 'unavailable']),
  })
  .meta({ id: 'LiveCalls' });
