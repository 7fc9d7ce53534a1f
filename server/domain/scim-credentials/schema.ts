import { z } from 'zod';
import { isoTime, label, pathId, shownOnce, time } from '#server/kernel/fields.ts';

export const SCIM_SPACES = ['live', 'test'] as const;
export type ScimSpace = (typeof SCIM_SPACES)[number];

/** What a directory authenticates with (interface rule 23 §3). Its token is never among the fields. */
export const ScimCredential = z
  .object({
    id: z.uuid(),
    name: z.string(),
    /** The beginning of the token. */
    prefix: z.string(),
    /** People are provisioned with a Live credential; OAuth clients in the space of the credential. */
    space: z.enum(SCIM_SPACES),
    created_at: time(),
    created_by: z.object({ id: z.uuid().nullable(), label: z.string() }),
    expires_at: time(),
    last_used_at: time().nullable(),
    last_used_ip: z.string().nullable(),
    revoked_at: time().nullable(),
  })
  .meta({ id: 'ScimCredential' });

export const CreateScimCredential = z.object({
  name: label(100),
  /** In an hour to 366 days. */
  expires_at: isoTime(),
  space: z.enum(SCIM_SPACES).default('live'),
});

/** The only time the token is shown. */
export const CreatedScimCredential = z
  .object({ credential: ScimCredential, token: shownOnce(z.string()) })
  .meta({ id: 'CreatedScimCredential' });

export const ScimCredentialRef = z.object({ id: pathId() });

/** `available`: usable and credentials can be made. `lapsed`: what exists works on. `ended`: the Enterprise plan was ended on purpose. */
export const SCIM_PLANS = ['available', 'lapsed', 'ended', 'required'] as const;
export type ScimPlan = (typeof SCIM_PLANS)[number];

/** What the administrator of a directory needs. */
export const ScimStatus = z.object({ base_url: z.string(), plan: z.enum(SCIM_PLANS) }).meta({ id: 'ScimStatus' });

/** One of the latest calls of a directory. Bodies are never kept. */
export const ScimRequest = z
  .object({
    id: z.uuid(),
    credential: z.object({ id: z.uuid(), name: z.string() }),
    method: z.string(),
    /** Path below the base URL, and the query. */
    target: z.string(),
    status: z.number().int(),
    scim_type: z.string().nullable(),
    error: z.string().nullable(),
    detail: z.string().nullable(),
    duration_ms: z.number().int(),
    request_id: z.string(),
    created_at: time(),
  })
  .meta({ id: 'ScimRequest' });
