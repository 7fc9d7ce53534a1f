import { z } from 'zod';
import { flag, time } from '#server/kernel/fields.ts';
import { pageQuery } from '#server/kernel/page.ts';

/** A person whom a directory provisioned (interface rule 23 §6). */
export const DirectoryUser = z
  .object({
    id: z.uuid(),
    user_id: z.uuid().nullable(),
    user_name: z.string(),
    display_name: z.string().nullable(),
    formatted: z.string().nullable(),
    external_id: z.string().nullable(),
    /** Whether they are a member with an enabled account. */
    active: z.boolean(),
    created_at: time(),
    updated_at: time(),
    /** When the directory last wrote the record. */
    synced_at: time(),
  })
  .meta({ id: 'DirectoryUser' });

export const ListDirectoryPeople = z.object({
  ...pageQuery,
  search: z.string().trim().max(200).optional(),
  active: flag().optional(),
});
