import { z } from 'zod';

/** What the name's form checks before it asks the server. It is fetched when the page has settled. */
export const WorkspaceName = z.object({ name: z.string().trim().min(1, 'is required').max(120) });
