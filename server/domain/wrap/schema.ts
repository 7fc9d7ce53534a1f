import { z } from 'zod';
import { SecretEnvironment, StringSecret, secretName, secretValue } from '#server/domain/secrets/schema.ts';
import { atLeastOne, flag, label, pathId, shownOnce, time } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';

/** A label for people; nothing is decided by it (interface rule 33 §7.1). */
const provider = () => label(64).transform((text) => text.toLowerCase());

/** Exact names only: a wrap credential has no wildcards. The service checks them against its own hosts. */
const hosts = () =>
  z
    .array(
      z
        .string()
        .min(1)
        .max(254)
        .meta({ pattern: '^(?:[A-Za-z0-9_-]+\\.)+[A-Za-z][A-Za-z0-9-]*\\.?$', examples: ['api.stripe.com'] }),
    )
    .min(1)
    .max(20);

/** Header fields that describe the message or its connection, and ours. */
const UNUSABLE = /^(?:host|content-length|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|x-svc-.*)$/i;
const headerName = () =>
  z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, 'must be a header name of at most 64 characters')
    .refine((name) => !UNUSABLE.test(name.replaceAll('_', '-')), "can't be used for a credential");
const valuePrefix = () =>
  z
    .string()
    .max(64)
    .regex(/^(?:[!-~][ -~]*)?$/, 'must be printable ASCII and must not start with a space');

const WrapEnvironment = SecretEnvironment.pick({
  environment_name: true,
  value_version: true,
  updated_at: true,
  expires_at_override: true,
}).meta({ id: 'WrapEnvironment' });

export const CreateWrapCredential = z.object({
  provider: provider(),
  name: secretName(),
  value: secretValue(),
  hosts: hosts(),
  header_name: headerName().optional(),
  value_prefix: valuePrefix().optional(),
  ...StringSecret.pick({
    environment: true,
    expires_at: true,
    strict_expiry_enforcement: true,
    collection_id: true,
    tags: true,
    description: true,
  }).shape,
});

export const CreatedWrapCredential = z
  .object({ secret_id: z.uuid(), name: z.string(), provider: z.string(), allowed_hosts: z.array(z.string()), sandbox: z.boolean() })
  .meta({ id: 'CreatedWrapCredential' });

export const WrapCredential = CreatedWrapCredential.extend({
  header_name: z.string(),
  value_prefix: z.string(),
  created_at: time(),
  updated_at: time(),
  last_used_at: time().nullable(),
  active_tokens: z.int(),
  expires_at: time().nullable(),
}).meta({ id: 'WrapCredential' });

export const WrapCredentialDetail = WrapCredential.extend({
  /** Revoked and expired ones included, as long as they are kept. */
  tokens: z.int(),
  environments: z.array(WrapEnvironment),
}).meta({ id: 'WrapCredentialDetail' });

export const ListWrapCredentials = listQuery({
  sorts: ['created_at'],
  sort: 'created_at',
  order: 'desc',
  filters: { provider: z.string().min(1).max(64).optional(), host: z.string().min(1).max(254).optional() },
});

export const WrapCredentialRef = z.object({ secret_id: pathId() });
export const UpdateWrapCredential = atLeastOne(
  z.object({
    secret_id: pathId(),
    provider: provider().optional(),
    hosts: hosts().optional(),
    header_name: headerName().optional(),
    value_prefix: valuePrefix().optional(),
    value: z.never({ error: "can't be changed here; use PUT /secrets/{id}/value" }).optional(),
  }),
  ['secret_id'],
);
export const DeleteWrapCredential = z.object({ secret_id: pathId(), revoke_tokens: flag().default(false) });

export const STYLES = ['path', 'subdomain'] as const;
export const TTL_SECONDS = { least: 60, most: 31_536_000 };

export const CreateWrapToken = z.object({
  /** Name or ID of a wrap credential. */
  secret: z.string().min(1).max(128),
  host: z.string().min(1).max(254).optional(),
  ttl_seconds: z.int().min(TTL_SECONDS.least).max(TTL_SECONDS.most).optional(),
  label: label(100).optional(),
  style: z.enum(STYLES).optional(),
});

export const CreatedWrapToken = z
  .object({
    id: z.uuid(),
    token: shownOnce(z.string()),
    base_url: shownOnce(z.string()),
    base_url_style: z.enum(STYLES),
    host: z.string(),
    secret_id: z.uuid(),
    sandbox: z.boolean(),
    expires_at: time().nullable(),
  })
  .meta({ id: 'CreatedWrapToken' });

export const WrapToken = z
  .object({
    id: z.uuid(),
    secret_id: z.uuid(),
    host: z.string(),
    label: z.string().nullable(),
    created_at: time(),
    expires_at: time().nullable(),
    revoked_at: time().nullable(),
    last_used_at: time().nullable(),
  })
  .meta({ id: 'WrapToken' });

export const ListWrapTokens = z.object({});
export const WrapTokens = z.object({ tokens: z.array(WrapToken) }).meta({ id: 'WrapTokens' });
export const WrapTokenRef = z.object({ id: pathId() });
export const RevokedWrapToken = z
  .object({ deleted: z.literal(true), id: z.uuid(), revoked: z.literal(true) })
  .meta({ id: 'RevokedWrapToken' });
