import { z } from 'zod';
import { time } from '#server/kernel/fields.ts';

/** Browsers are sent the whole list with every field. */
export const MAX_ORIGINS = 20;

/** What pages load, and where they may (interface rule 41 §13). */
export const Elements = z.object({
  /** The library's address in this space, and the one that changes with its content. */
  script_url: z.string(),
  versioned_url: z.string(),
  /** Of the bytes that are served, as browsers check them. */
  integrity: z.string(),
  origins: z.array(z.string()),
  updated_at: time().nullable(),
});
export type Elements = z.input<typeof Elements>;

export const SetElementOrigins = z.object({
  /** Judged one by one by the service, since Test takes local pages. */
  origins: z.array(z.string().min(1).max(300)).max(MAX_ORIGINS),
});
