import { z } from 'zod';
import { pathId, time } from '#server/kernel/fields.ts';

export const DOMAIN_STATUSES = ['pending', 'verified', 'expired', 'lapsed'] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

/** A domain that a workspace proves to own by a TXT record (interface rule 22 §10). */
export const TenantDomain = z
  .object({
    id: z.uuid(),
    domain: z.string(),
    status: z.enum(DOMAIN_STATUSES),
    /** The record to publish, and its exact value. */
    txt_name: z.string(),
    txt_value: z.string(),
    /** Members with an address of this domain must use single sign-on. */
    sso_required: z.boolean(),
    created_at: time(),
    /** When a pending request ends. */
    expires_at: time().nullable(),
    verified_at: time().nullable(),
    checked_at: time().nullable(),
  })
  .meta({ id: 'TenantDomain' });

export const CreateDomain = z.object({ domain: z.string().min(1).max(300) });
export const DomainRef = z.object({ id: pathId() });
