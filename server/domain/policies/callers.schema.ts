import { z } from 'zod';
import { MEMBER_ROLES } from '#server/kernel/capabilities.ts';

const Caller = z.object({
  role: z.enum(MEMBER_ROLES).optional(),
  user_id: z.string().nullish(),
  api_key_id: z.string().nullish(),
  key_role_ids: z.string().array().readonly().optional(),
  oauth_client_id: z.string().nullish(),
});

/** Whom a call is made for, in an order to the gateway: never left out, so that what hides or denies something to one of them does so in this call. */
export const PolicyCallersOrder = z.tuple([Caller], Caller).readonly();
