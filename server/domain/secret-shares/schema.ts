import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { email } from '#server/domain/people/schema.ts';
import { SharedWithUs, secretName } from '#server/domain/secrets/schema.ts';
import { atLeastOne, isoTime, pathId, secret, text, time, uuid } from '#server/kernel/fields.ts';

export const ACCESS_LEVELS = ['use', 'view', 'manage'] as const;
const level = () => z.enum(ACCESS_LEVELS);
const status = SharedWithUs.shape.status;
const hosts = () => z.array(z.string().min(1).max(300)).min(1).max(50);
const date = () => isoTime().transform((v) => new Date(v));

/** A share, as the workspace sees it that owns the secret (interface rule 30 §14.3). The claim token is only in the mail. */
export const SecretShare = z
  .object({
    id: z.uuid(),
    secret_id: z.uuid(),
    recipient_email: z.string(),
    recipient_tenant_name: z.string().nullable(),
    access_level: level(),
    /** null for any host */
    allowed_hosts: z.array(z.string()).nullable(),
    unrestricted: z.boolean(),
    environment: z.string(),
    message: z.string().nullable(),
    status,
    /** The name of the person who shared it. */
    created_by: z.string(),
    created_at: time(),
    claimed_at: time().nullable(),
    revoked_at: time().nullable(),
    expires_at: time().nullable(),
    /** Until when it can be claimed; null once it was. */
    offer_expires_at: time().nullable(),
    last_used_at: time().nullable(),
  })
  .meta({ id: 'SecretShare' });
export const SecretShares = z.object({ shares: z.array(SecretShare) }).meta({ id: 'SecretShares' });

export const NoInput = z.object({});
export const SharesOf = z.object({ id: pathId() });
export const ShareRef = z.object({ id: pathId(), shareId: pathId() });

export const CreateShare = z.object({
  id: pathId(),
  email: email(),
  access_level: level().default('use'),
  /** Required unless `unrestricted`. */
  allowed_hosts: hosts().optional(),
  unrestricted: z.boolean().default(false),
  environment: environmentName().optional(),
  expires_at: date().nullable().optional(),
  message: text(500).optional(),
});

export const UpdateShare = atLeastOne(
  z.object({
    id: pathId(),
    shareId: pathId(),
    access_level: level().optional(),
    allowed_hosts: hosts().optional(),
    expires_at: date().nullable().optional(),
  }),
  ['id', 'shareId'],
);

/** A share as the other side sees it: offered to the person who asks, or accepted by this workspace. */
export const IncomingShare = z
  .object({
    id: z.uuid(),
    status,
    secret_name: z.string(),
    owner_workspace: z.string().nullable(),
    /** Who shared it; null once it is accepted. */
    offered_by: z.string().nullable(),
    access_level: level().nullable(),
    allowed_hosts: z.array(z.string()).nullable(),
    unrestricted: z.boolean(),
    environment: z.string().nullable(),
    message: z.string().nullable(),
    created_at: time(),
    expires_at: time().nullable(),
    offer_expires_at: time().nullable(),
    claimed_at: time().nullable(),
    /** The secret of this workspace that leads to it. */
    linked_secret_id: z.uuid().nullable(),
  })
  .meta({ id: 'IncomingShare' });
export const IncomingShares = z.object({ shares: z.array(IncomingShare) }).meta({ id: 'IncomingShares' });

export const ClaimShare = z.object({
  token: secret(z.string().min(1).max(200)),
  /** Name of the linked secret here; absent takes that of the shared one. */
  name: secretName().optional(),
  collection_id: uuid().nullable().optional(),
});
export const ClaimedShare = z
  .object({ id: z.uuid(), name: z.string(), share_id: z.uuid(), owner_workspace: z.string() })
  .meta({ id: 'ClaimedShare', description: 'The linked secret that was made.' });

export const IncomingRef = z.object({ shareId: pathId() });
export const DeclinedShare = z.object({ id: z.uuid(), status: z.literal('declined') }).meta({ id: 'DeclinedShare' });
