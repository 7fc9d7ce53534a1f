import { z } from 'zod';
import { HEALTH } from '#server/domain/clients/health.shared.ts';
import { time } from '#server/kernel/fields.ts';

export const ClientHealthQuery = z.object({ state: z.enum(HEALTH).optional() });

export const ClientHealth = z
  .object({
    /** how many clients are how, all of the space */
    counts: z.object({ down: z.number(), degraded: z.number(), healthy: z.number(), idle: z.number() }),
    /** the worst first, at most 200 */
    clients: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        type: z.string(),
        enabled: z.boolean(),
        state: z.enum(HEALTH),
        calls_24h: z.number(),
        errors_24h: z.number(),
        /** ms; null without a call that was measured */
        latency_avg: z.number().nullable(),
        latency_p95: z.number().nullable(),
        last_seen_at: time().nullable(),
        /** when the first of its credentials that are in use ends; null when none does */
        credential_expires_at: time().nullable(),
      }),
    ),
  })
  .meta({ id: 'ClientHealth' });
