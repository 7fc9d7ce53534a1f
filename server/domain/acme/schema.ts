import { z } from 'zod';
import { label, pathId, shownOnce, time } from '#server/kernel/fields.ts';

const DAY = 86_400;

/** How long a key can be registered with. */
export const TTL_SECONDS = { least: 60, most: 365 * DAY, usual: 30 * DAY };

export const ACCOUNT_STATES = ['pending', 'expired', 'valid', 'deactivated', 'revoked'] as const;

const AccountRole = { name: pathId(), role: pathId() };

export const CreateAcmeAccount = z.object({
  ...AccountRole,
  label: label(100).optional(),
  ttl_seconds: z.int().min(TTL_SECONDS.least).max(TTL_SECONDS.most).default(TTL_SECONDS.usual),
});

export const AcmeAccount = z
  .object({
    id: z.uuid(),
    label: z.string().nullable(),
    status: z.enum(ACCOUNT_STATES),
    contact: z.array(z.string()),
    thumbprint: z.string().nullable(),
    minted_by: z.object({ type: z.enum(['user', 'api_key', 'oauth_client']), id: z.uuid(), label: z.string() }),
    created_at: time(),
    expires_at: time(),
    registered_at: time().nullable(),
    last_used_at: time().nullable(),
  })
  .meta({ id: 'AcmeAccount' });

export const CreatedAcmeAccount = z
  .object({
    id: z.uuid(),
    kid: z.string(),
    hmac_key: shownOnce(z.string()),
    directory_url: z.url(),
    label: z.string().nullable(),
    expires_at: time(),
  })
  .meta({ id: 'CreatedAcmeAccount' });

export const ListAcmeAccounts = z.object(AccountRole);
export const AcmeAccountRef = z.object({ ...AccountRole, id: pathId() });
