import { z } from 'zod';
import { isoTime, time, uuid } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';

/** One entry of the reveal log, of either space. What the person may not read of its details is null. */
export const RevealEntry = z
  .object({
    /** Of its audit entry. */
    id: z.uuid(),
    created_at: time(),
    sandbox: z.boolean(),
    actor: z.object({ id: z.string().nullable(), label: z.string().nullable(), photo: z.uuid().nullable() }),
    resource_type: z.string(),
    resource_id: z.string().nullable(),
    name: z.string().nullable(),
    environment: z.string().nullable(),
    class: z.enum(['A', 'B']).nullable(),
    method: z.enum(['passkey', 'totp']).nullable(),
    reason: z.string().nullable(),
    outcome: z.enum(['granted', 'failed']).nullable(),
    ip_address: z.string().nullable(),
    ip_country: z.string().nullable(),
    details_redacted: z.boolean(),
  })
  .meta({ id: 'RevealEntry' });

const filters = {
  actor_id: uuid().optional(),
  resource_type: z.string().min(1).max(100).optional(),
  resource_id: z.string().min(1).max(200).optional(),
  /** Part of the resource's or the person's name. */
  q: z.string().trim().min(1).max(200).optional(),
  from: isoTime().optional(),
  to: isoTime().optional(),
};
export const ListReveals = z.object({ ...pageQuery, ...filters });
export const ExportReveals = z.object(filters);

export const RevealingPeople = z
  .object({ people: z.array(z.object({ id: z.string(), label: z.string().nullable(), count: z.number().int() })) })
  .meta({ id: 'RevealingPeople', description: 'Who is behind the newest 5,000 reveals, the busiest first.' });
