import { z } from 'zod';
import { atLeastOne, flag, label, pathId, shownOnce, text, time } from '#server/kernel/fields.ts';
import { SCOPE_NAMES } from '#server/kernel/scopes.ts';
import { GRANT_TYPES } from './grants.shared.ts';
import { MAX_REDIRECT_URI_LENGTH, MAX_REDIRECT_URIS } from './redirect-uris.shared.ts';

const CLIENT_TYPES = ['confidential', 'public'] as const;

/** The longest time that a replaced secret keeps working. */
export const MAX_OVERLAP_SECONDS = 86_400;
export const MAX_CONSENT_TEMPLATE_LENGTH = 10_000;

const core = {
  id: z.uuid(),
  client_id: z.string(),
  name: z.string(),
  type: z.enum(CLIENT_TYPES),
  grant_types: z.array(z.enum(GRANT_TYPES)),
  allowed_scopes: z.array(z.string()),
  redirect_uris: z.array(z.string()),
  require_dpop: z.boolean(),
  require_pkce: z.literal(true),
  token_format: z.literal('opaque'),
  active: z.boolean(),
  revoked_at: time().nullable(),
  created_at: time(),
  updated_at: time(),
  last_used_at: time().nullable(),
  source_api_key_id: z.uuid().nullable(),
  source_key_type: z.string().nullable(),
  system_role: z.literal('cli').nullable(),
  trust_binding_count: z.int(),
};

/** An OAuth client as lists show it (interface rule 21 §13). */
export const OAuthClient = z.object(core).meta({ id: 'OAuthClient' });

export const OAuthClientDetail = z
  .object({
    ...core,
    step_up_scopes: z.array(z.string()),
    consent_html_template: z.string().nullable(),
    /** When the current secret was made; null without one of its own. */
    secret_created_at: time().nullable(),
    /** Until when the secret before it works too; null when only one works. */
    previous_secret_expires_at: time().nullable(),
    created_by: z.object({ kind: z.string(), id: z.string().nullable(), label: z.string() }).nullable(),
  })
  .meta({ id: 'OAuthClientDetail' });

/** The only time that the secret is shown. */
export const CreatedOAuthClient = z
  .object({
    id: z.uuid(),
    client_id: z.string(),
    client_secret: shownOnce(z.string().nullable()),
    type: z.enum(CLIENT_TYPES),
    grant_types: z.array(z.enum(GRANT_TYPES)),
    allowed_scopes: z.array(z.string()),
    redirect_uris: z.array(z.string()),
  })
  .meta({ id: 'CreatedOAuthClient' });

export const RotatedOAuthClientSecret = z
  .object({ client_id: z.string(), client_secret: shownOnce(z.string()), previous_secret_expires_at: time().nullable() })
  .meta({ id: 'RotatedOAuthClientSecret' });

const scopes = z.array(z.enum(SCOPE_NAMES, 'unknown scope').meta({ id: 'OAuthScope' })).max(100);
const redirectUris = z.array(z.string().max(MAX_REDIRECT_URI_LENGTH)).max(MAX_REDIRECT_URIS);
const grants = z
  .array(z.enum(GRANT_TYPES, `must be one of ${GRANT_TYPES.join(', ')}`))
  .min(1)
  .max(GRANT_TYPES.length);

const settings = {
  allowed_scopes: scopes.optional(),
  redirect_uris: redirectUris.optional(),
  require_dpop: z.boolean().optional(),
  require_pkce: z.literal(true, 'must be true: every authorization code is bound to a PKCE challenge').optional(),
  token_format: z.literal('opaque', 'must be "opaque": tokens of other formats are not issued').optional(),
  consent_html_template: text(MAX_CONSENT_TEMPLATE_LENGTH).optional(),
  step_up_scopes: scopes.optional(),
};

export const CreateOAuthClient = z.object({
  name: label(100),
  type: z.enum(CLIENT_TYPES).default('confidential'),
  grant_types: grants.optional(),
  ...settings,
});

export const UpdateOAuthClient = atLeastOne(
  z.object({
    id: pathId(),
    name: label(100).optional(),
    active: z.boolean().optional(),
    ...settings,
    /** Accepted when they are what the client has, so that a whole object can be sent back. */
    type: z.enum(CLIENT_TYPES).optional(),
    grant_types: grants.optional(),
  }),
);

export const RotateOAuthClientSecret = z.object({
  id: pathId(),
  /** 0: the old secret and every token that it obtained end now. */
  overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(0),
});

export const OAuthClientRef = z.object({ id: pathId() });
export const ListOAuthClients = z.object({ type: z.enum(CLIENT_TYPES).optional(), active: flag().optional() });

export const RevokedOAuthClient = z.object({ deleted: z.literal(true), revoked: z.literal(true) }).meta({ id: 'RevokedOAuthClient' });

/** What a person granted a client and hasn't ended. */
export const OAuthGrant = z
  .object({
    id: z.uuid(),
    user: z.object({ id: z.uuid(), name: z.string(), email: z.string() }),
    scopes: z.array(z.string()),
    flow: z.string(),
    created_at: time(),
    last_used_at: time(),
    expires_at: time(),
  })
  .meta({ id: 'OAuthGrant' });

export const OAuthGrantRef = z.object({ id: pathId(), grant_id: pathId() });
