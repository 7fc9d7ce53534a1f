import { z } from 'zod';
import { time } from '#server/kernel/fields.ts';

/** A version of the workspace's master key (interface rule 31 §4): what it is, never what it says. */
export const TenantKey = z
  .object({
    id: z.uuid(),
    version: z.number(),
    wrap_method: z.string(),
    status: z.string(),
    created_at: time(),
    retired_at: time().nullable(),
    revoked_at: time().nullable(),
    rewrap_completed_at: time().nullable(),
    values: z.number().meta({ description: 'Stored values still wrapped by this version.' }),
  })
  .meta({ id: 'TenantKey' });

export const TenantKeys = z
  .object({
    keys: z.array(TenantKey),
    rewrap: z
      .object({
        lease_id: z.number(),
        from_version: z.number(),
        to_version: z.number(),
        rows_done: z.number(),
        rows_total: z.number(),
        state: z.enum(['waiting', 'running', 'completed']),
      })
      .nullable(),
  })
  .meta({ id: 'TenantKeys' });

export const RotatedKey = z
  .object({ rotated: z.literal(true), new_version: z.number(), rewrap_lease_id: z.number().nullable() })
  .meta({ id: 'RotatedKey' });
