import { z } from 'zod';
import { time } from '#server/kernel/fields.ts';

/** A version of the workspace's master key (interface rule 31 §4): what it is, never what it says. */
export const TenantKey = z
  .object({
    id: z.uuid(),
    version: z.number(),
    wrap_method: z.string(),
    status: z.string(),
    created_at: time(),
    retired_at: time().nullable(),
    revoked_at: time().nullable(),
    rewrap_completed_at: time().nullable(),
    values: z.number().meta({ description: 'Stored values still wrapped by this version.' }),
  })
  .meta({ id: 'TenantKey' });

const Rewrap = z
  .object({
    lease_id: z.number(),
    from_version: z.number(),
    to_version: z.number(),
    rows_done: z.number(),
    rows_total: z.number(),
    state: z.enum(['waiting', 'running', 'paused', 'completed']),
  })
  .nullable();

export const TenantKeys = z.object({ keys: z.array(TenantKey), rewrap: Rewrap }).meta({ id: 'TenantKeys' });

/** Whom a customer must trust on their side. What the operator hasn't told the service is null. */
export const OperatorIdentity = z.object({
  aws_account_id: z.string().nullable(),
  gcp_principal: z.string().nullable(),
  azure_app_id: z.string().nullable(),
});

export const TenantKms = z
  .object({
    config: z.object({
      provider: z.string().meta({ description: '`customer_kms_aws`, `customer_kms_gcp` or `customer_kms_azure`.' }),
      kms_key_ref: z.string(),
      config: z.record(z.string(), z.string()).meta({ description: 'Roles and IDs. The external ID is not echoed.' }),
      sealed_since: time().nullable(),
      sealed_reason: z.string().nullable().meta({ description: '`access_denied`, `unreachable`, or `key_revoked` for good.' }),
      last_verified_at: time().nullable(),
      last_verify_error: z.string().nullable(),
      leaving: z.boolean().meta({ description: 'The workspace leaves its KMS once everything is re-wrapped.' }),
    }),
    keys: z.array(TenantKey),
    rewrap: Rewrap,
    operator_identity: OperatorIdentity,
  })
  .meta({ id: 'TenantKms' });

export const KmsSetup = z
  .object({
    external_id: z.uuid().meta({ description: 'What the trust policy of your AWS role must ask for. It is only used for this workspace.' }),
    operator_identity: OperatorIdentity,
  })
  .meta({ id: 'KmsSetup' });

export const KmsState = z
  .object({
    wrap_method: z.string().nullable(),
    provider: z.string().nullable(),
    kms_key_ref: z.string().nullable(),
    sealed_since: time().nullable(),
    sealed_reason: z.string().nullable(),
    last_verified_at: time().nullable(),
    last_error: z.string().nullable(),
    leaving: z.boolean(),
  })
  .meta({ id: 'KmsState' });

/** Unknown members are kept so that a credential among them is found and refused by name. */
export const OnboardKms = z
  .looseObject({
    provider: z
      .string()
      .max(20)
      .meta({ enum: ['aws', 'gcp', 'azure'], description: 'Provider of the KMS.' }),
    kms_key_ref: z.string().min(1).max(600),
    config: z.record(z.string(), z.json()),
  })
  .meta({ id: 'OnboardKms' });

export const Onboarded = z
  .object({
    ok: z.literal(true),
    provider: z.string(),
    kms_key_ref: z.string(),
    new_key_version: z.number(),
    new_key_id: z.uuid(),
    rewrap_status: z.enum(['enqueued', 'pending']),
    note: z.string(),
  })
  .meta({ id: 'OnboardedKms' });

export const RotatedKey = z
  .object({ rotated: z.literal(true), new_version: z.number(), rewrap_lease_id: z.number().nullable() })
  .meta({ id: 'RotatedKey' });

export const RevokeKey = z.object({
  version: z.int().min(1).max(2_147_483_647),
  confirm_slug: z.string().max(100).meta({ description: 'The slug of the workspace.' }),
  force: z.boolean().default(false).meta({ description: 'Also with values under the version, which are lost for good. Owners only.' }),
});

export const RevokedKey = z
  .object({ revoked: z.literal(true), version: z.number(), rows_erased: z.number(), sealed: z.boolean() })
  .meta({ id: 'RevokedKey' });

export const Unsealed = z.object({ unsealed: z.literal(true) }).meta({ id: 'UnsealedTenant' });
export const Verified = z.object({ verified: z.literal(true) }).meta({ id: 'VerifiedKms' });
