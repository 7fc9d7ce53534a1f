import { z } from 'zod';
import { canonicalAddress } from '#server/kernel/address.ts';

/** What the name's form checks before it asks the server. It is fetched when the page has settled. */
export const WorkspaceName = z.object({ name: z.string().trim().min(1, 'is required').max(120) });

/** Limits of sessions, and one address or range per line. */
export const AccessFields = z.object({
  idle: z.string(),
  length: z.string(),
  ranges: z.string().superRefine((text, context) => {
    for (const line of text.split('\n').map((one) => one.trim())) {
      const address = line === '' ? undefined : canonicalAddress(line);
      if (address?.ok === false) return context.addIssue({ code: 'custom', message: `${line}: ${address.problem}` });
    }
  }),
});
