import { z } from 'zod';
import { InvitationSignUp } from '#server/domain/team/schema.ts';

// What the form of an invitation checks before it asks the server. It is fetched when the page has settled.

export const NewAccount = z.object({ full_name: InvitationSignUp.shape.full_name, password: z.string().max(4096) });
