import { z } from 'zod';
import { ChangeEmail } from '#server/domain/people/schema.ts';

// What the forms of this folder check before they ask the server. They are fetched when their page has settled.

export const ProfileFields = z.object({ full_name: z.string().trim().min(1, 'is required').max(120), timezone: z.string().nullable() });
export const PasswordChange = z.object({ current: z.string().min(1, 'is required'), new: z.string().min(1, 'is required') });
export const EmailChange = ChangeEmail.extend({ password: z.string().optional() });
