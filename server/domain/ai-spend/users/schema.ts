import { z } from 'zod';
import { flag, label, optionalLabel, pathId, time } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';

export const AiUser = z
  .object({
    id: z.uuid(),
    external_id: z.string(),
    display_name: z.string().nullable(),
    email: z.string().nullable(),
    team: z.string().nullable(),
    enabled: z.boolean(),
    first_seen_at: time().nullable(),
    last_seen_at: time().nullable(),
    sandbox: z.boolean(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'AiUser' });

const attributes = {
  display_name: optionalLabel(200).optional(),
  email: z.email().max(254).nullable().optional(),
  team: optionalLabel(100).optional(),
};

export const ListAiUsers = listQuery({
  sorts: ['created_at', 'external_id', 'last_seen_at'],
  sort: 'created_at',
  order: 'desc',
  filters: { q: z.string().max(200).optional(), team: z.string().max(100).optional(), enabled: flag().optional() },
});
export const AiUserRef = z.object({ id: pathId() });
export const CreateAiUser = z.object({ external_id: label(200), ...attributes, enabled: z.boolean().default(true) });
export const UpdateAiUser = z.object({ id: pathId(), ...attributes, enabled: z.boolean().optional() });
