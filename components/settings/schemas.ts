import { z } from 'zod';
import { addressProblem } from '#components/clients/address-note.tsx';
import { listOf } from '#components/secrets/secret-text.ts';

/** What the name's form checks before it asks the server. It is fetched when the page has settled. */
export const WorkspaceName = z.object({ name: z.string().trim().min(1, 'is required').max(120) });

/** Limits of sessions, and one address or range per line; whether they include one's own is for the server to say. */
export const AccessFields = z.object({
  idle: z.string(),
  length: z.string(),
  dashboard_ip_allowlist: z.string().superRefine((text, context) => {
    const message = addressProblem(listOf(text));
    if (message) context.addIssue({ code: 'custom', message });
  }),
});
