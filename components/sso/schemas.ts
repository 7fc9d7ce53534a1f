import { z } from 'zod';
import { SSO_KINDS } from '#server/domain/sso/schema.ts';

/** What the form of a connection holds: texts, of which only the kind's own are sent. */
export const ConnectionFields = z.object({
  kind: z.enum(SSO_KINDS),
  name: z.string().trim().min(1, 'is required').max(100),
  active: z.boolean(),
  trust_mfa: z.boolean(),
  issuer: z.string().trim().max(2048),
  client_id: z.string().trim().max(500),
  client_secret: z.string().max(4096),
  token_auth: z.enum(['basic', 'post']),
  metadata_xml: z.string().max(200_000),
  certificates: z.string().max(80_000),
  allow_idp_initiated: z.boolean(),
});
export type ConnectionFields = z.output<typeof ConnectionFields>;
