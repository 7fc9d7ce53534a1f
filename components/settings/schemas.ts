import { z } from 'zod';

/** What the name's form checks before it asks the server. It is fetched when the page has settled. */
export const WorkspaceName = z.object({ name: z.string().trim().min(1, 'is required').max(120) });

/** Limits of sessions, and one address or range per line; the server judges the addresses. */
export const AccessFields = z.object({
  idle: z.string(),
  length: z.string(),
  ranges: z.string(),
});
