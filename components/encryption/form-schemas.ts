import { z } from 'zod';
import { listOf } from '#components/secrets/secret-text.ts';
import { MAX_ORIGINS } from '#server/domain/elements/schema.ts';

/** What the list of origins is checked for before the service judges each. */
export const OriginFields = z.object({
  origins: z.string().refine((text) => listOf(text).length <= MAX_ORIGINS, `can have at most ${MAX_ORIGINS} origins`),
});
