import { z } from 'zod';

/** What the form of a root's settings holds. */
export const SettingsFields = z.object({
  intermediate_days: z
    .string()
    .trim()
    .regex(/^[0-9]{1,4}$/, 'must be a whole number')
    .refine((text) => Number(text) >= 1 && Number(text) <= 1_825, 'must be 1 to 1825'),
  publish: z.boolean(),
});
export type SettingsFields = z.output<typeof SettingsFields>;
