import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { pathId, secret, shownOnce, time, uuid } from '#server/kernel/fields.ts';
import { CONNECTION_STATUSES, OAUTH2_CLIENT_AUTH, OAUTH2_GRANTS, OAUTH2_PROVIDERS } from '#server/kernel/oauth2-providers.ts';
import { Secret, secretName, secretSettings } from '../schema.ts';

/** Fields of the protocol that a connection sets itself. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'code',
  'state',
  'redirect_uri',
  'code_verifier',
  'code_challenge',
  'code_challenge_method',
  'response_type',
  'refresh_token',
]);

const extraParams = () =>
  z
    .record(z.string().min(1).max(64), z.string().max(1_024))
    .refine((params) => Object.keys(params).length <= 20, 'must not have more than 20 entries')
    .refine(
      (params) => !Object.keys(params).some((name) => OWN_PARAMETERS.has(name)),
      'must not set a parameter that the protocol sets itself',
    );

/** A scope token (RFC 6749 §3.3). */
const scope = () =>
  z
    .string()
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, 'must not contain spaces, quotes or backslashes')
    .meta({ examples: ['read'] });

/** As a provider gives it out; what a form can't carry is refused. */
const credential = (max: number) =>
  secret(
    z
      .string()
      .min(1)
      .max(max)
      .refine((v) => v.isWellFormed() && !v.includes('\u0000'), 'must be valid text'),
  );

const asked = {
  client_id: z
    .string()
    .trim()
    .min(1)
    .max(512)
    .regex(/^[\x20-\x7e]+$/, 'must be ASCII'),
  scopes: z.array(scope()).max(100).optional(),
  auth_url: z.string().min(1).max(2_048).meta({ format: 'uri' }).optional(),
  token_url: z.string().min(1).max(2_048).meta({ format: 'uri' }).optional(),
  mtls_certificate_id: uuid().optional(),
  token_endpoint_auth_method: z.enum(OAUTH2_CLIENT_AUTH).optional(),
  extra_token_params: extraParams().optional(),
  extra_auth_params: extraParams().optional(),
};
const credentials = {
  client_secret: credential(4_096).optional(),
  username: credential(512).optional(),
  password: credential(4_096).optional(),
};
const { rotate_every_days: _, ...settings } = secretSettings;

/** What only a connection has. */
export const connectionFields = { provider: z.enum(OAUTH2_PROVIDERS), grant_type: z.enum(OAUTH2_GRANTS), ...asked, ...credentials };

export const CreateConnection = z.object({
  name: secretName(),
  ...connectionFields,
  grant_type: connectionFields.grant_type.default('authorization_code'),
  ...settings,
});

export const CreatedConnection = Secret.pick({
  id: true,
  name: true,
  shortcode_name: true,
  secret_type: true,
  base_environment: true,
  collection_id: true,
})
  .extend({
    provider: z.enum(OAUTH2_PROVIDERS),
    grant_type: z.enum(OAUTH2_GRANTS),
    scopes: z.array(z.string()),
    redirect_uri: z.string().nullable(),
    connection_status: z.enum(CONNECTION_STATUSES),
    /** Where a person consents; null for grants without a browser. */
    authorization_url: z.string().nullable(),
  })
  .meta({ id: 'CreatedConnection' });

export const ConnectionRef = z.object({ id: pathId(), environment: environmentName().optional() });

export const AuthorizationUrl = z.object({ authorization_url: z.string(), expires_at: time() }).meta({ id: 'AuthorizationUrl' });

export const ConnectionToken = z
  .object({
    access_token: shownOnce(z.string()),
    expires_at: time().nullable(),
    token_type: z.string(),
    connection_status: z.enum(CONNECTION_STATUSES),
  })
  .meta({ id: 'ConnectionToken' });

export const ConnectionState = z
  .object({
    id: z.uuid(),
    name: z.string(),
    environment: z.string(),
    connection_status: z.enum(CONNECTION_STATUSES),
    token_expires_at: time().nullable(),
    /** Where to consent again; null when the connection needs no browser. */
    authorization_url: z.string().nullable(),
  })
  .meta({ id: 'ConnectionState' });

/** New credentials of the client, in one environment. */
export const UpdateConnection = z.object({ id: pathId(), environment: environmentName().optional(), ...credentials, scopes: asked.scopes });

export const CompleteConnection = z.object({ id: pathId(), handle: z.string().max(100).default('') });
export const ConnectionRedirect = z.object({ location: z.string() }).meta({ id: 'ConnectionRedirect' });
