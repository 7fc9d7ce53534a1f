import { z } from 'zod';
import { time } from '#server/kernel/fields.ts';

export const Nothing = z.object({});
export const ConnectedAppRef = z.object({ id: z.string() });

/** A login of an application in the person's name. */
export const ConnectedApp = z.object({
  id: z.uuid(),
  client: z.object({ name: z.string(), client_id: z.string(), type: z.enum(['confidential', 'public']), is_cli: z.boolean() }),
  workspace: z.object({ id: z.uuid(), slug: z.string(), name: z.string() }),
  space: z.enum(['live', 'test']),
  scopes: z.array(z.string()),
  flow: z.enum(['code', 'device']),
  /** Where it was logged in from. */
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  created_at: time(),
  last_used_at: time(),
  expires_at: time(),
});
export const ConnectedApps = z.object({ apps: z.array(ConnectedApp) });
