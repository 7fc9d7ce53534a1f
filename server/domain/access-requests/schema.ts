import { z } from 'zod';
import { pathId, text, time } from '#server/kernel/fields.ts';
import { WANTED } from './wanted.shared.ts';

export const REQUEST_STATES = ['open', 'approved', 'denied'] as const;

/** What a member asks Owners and Admins for: to reveal the values of secrets, or a larger role. */
export const AccessRequest = z
  .object({
    id: z.uuid(),
    wants: z.enum(WANTED),
    reason: z.string(),
    state: z.enum(REQUEST_STATES),
    person: z.string(),
    mine: z.boolean(),
    decided_by: z.string().nullable(),
    created_at: time(),
    decided_at: time().nullable(),
  })
  .meta({ id: 'AccessRequest' });

export const CreateAccessRequest = z.object({ wants: z.enum(WANTED), reason: text(500).unwrap().trim().min(1) });
export const DecideAccessRequest = z.object({ id: pathId(), approve: z.boolean() });
