import type { z } from 'zod';
import type { Secret } from '#server/domain/secrets/schema.ts';

/** A secret as lists have it: never a value. */
export type SecretRow = z.output<typeof Secret>;
