import { z } from 'zod';
import { addressRange } from '#server/kernel/address-field.ts';
import { atLeastOne, atMostOne, flag, isoTime, label, pathId, shownOnce, time, uuid } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { SCOPE_CATALOGUE, SCOPE_NAMES } from '#server/kernel/scopes.ts';

/** An API key as lists and details show it (interface rule 20 §1.4). The key itself is never among the fields. */
export const ApiKey = z
  .object({
    id: z.uuid(),
    key_id: z.string(),
    key_prefix: z.string(),
    key_type: z.enum(['standard', 'test', 'access_key']),
    name: z.string(),
    active: z.boolean(),
    created_at: time(),
    updated_at: time(),
    last_used_at: time().nullable(),
    last_used_ip: z.string().nullable(),
    rate_limit_requests: z.number().int().nullable(),
    rate_limit_window_sec: z.number().int().nullable(),
    role_ids: z.array(z.uuid()),
    scopes: z.array(z.string()).nullable(),
    expires_at: time().nullable(),
    ip_allowlist: z.array(z.string()),
    /** When a key that was replaced stops working by itself; null without such an end. */
    revoke_at: time().nullable(),
    /** The key_id of the key that this one was made for. */
    replaces_key_id: z.string().nullable(),
    revoked_at: time().nullable(),
    revoked_by: z.uuid().nullable(),
    created_by: z
      .object({ kind: z.enum(['user', 'api_key', 'oauth_client', 'operator', 'signup']), id: z.string().nullable(), label: z.string() })
      .nullable(),
    oauth_client_id: z.string(),
  })
  .meta({ id: 'ApiKey' });

/** What create and rotate answer: the only time the key is shown. */
export const CreatedApiKey = z
  .object({
    id: z.uuid(),
    key_id: z.string(),
    api_key: shownOnce(z.string()),
    key_prefix: z.string(),
    key_type: z.enum(['standard', 'test', 'access_key']),
    name: z.string(),
    role_ids: z.array(z.uuid()),
    scopes: z.array(z.string()).nullable(),
    expires_at: time().nullable(),
    message: z.string(),
  })
  .meta({ id: 'CreatedApiKey' });

export const RotatedApiKey = CreatedApiKey.extend({ replaces_key_id: z.string() }).meta({ id: 'RotatedApiKey' });

const requests = z.number().int().min(1).max(1_000_000).nullable();
const window = z.number().int().min(1).max(86_400).nullable();
const addresses = z.array(addressRange()).max(50);
const roles = z.array(uuid()).max(20);
/** Scopes that mean something on a key: `mcp:tools` has no capability of its own. */
const KEY_SCOPES = SCOPE_NAMES.filter((scope) => SCOPE_CATALOGUE[scope]?.capabilities.length !== 0);
const scopes = z.array(z.enum(KEY_SCOPES, 'unknown scope').meta({ id: 'Scope' })).max(100);

/** When a key ends: at a time, after a number of days, or never. Every kind of key takes one of them (interface rule 20 §1.6). */
const ending = {
  expires_at: isoTime().optional(),
  expires_in_days: z.number().int().min(1).max(1825).optional(),
  never_expires: z.literal(true, 'must be true or omitted').optional(),
};
const withEnding = <T extends z.ZodObject>(schema: T) => atMostOne(schema, Object.keys(ending));

export const CreateApiKey = withEnding(
  z.object({
    name: label(100),
    key_type: z.enum(['standard', 'access_key']).default('standard'),
    rate_limit_requests: requests.optional(),
    rate_limit_window_sec: window.optional(),
    role_ids: roles.optional(),
    ip_allowlist: addresses.optional(),
    scopes: scopes.optional(),
    ...ending,
  }),
);

export const UpdateApiKey = withEnding(
  atLeastOne(
    z.object({
      id: pathId(),
      name: label(100).optional(),
      rate_limit_requests: requests.optional(),
      rate_limit_window_sec: window.optional(),
      role_ids: roles.optional(),
      ip_allowlist: addresses.optional(),
      scopes: scopes.optional(),
      ...ending,
      /** null: never */
      expires_at: isoTime().nullable().optional(),
    }),
  ),
);

export const RotateApiKey = withEnding(
  z.object({
    id: pathId(),
    /** 0 .. 30 days; null keeps the old key until it is revoked */
    revoke_old_after_sec: z.number().int().min(0).max(2_592_000).nullable().default(null),
    ...ending,
  }),
);

export const ApiKeyRef = z.object({ id: pathId() });

export const ListApiKeys = listQuery({
  sorts: ['created_at', 'name', 'last_used_at'],
  sort: 'created_at',
  order: 'desc',
  filters: { active: flag().optional(), key_type: z.enum(['standard', 'test', 'access_key']).optional() },
});

export const RevokedApiKey = z.object({ deleted: z.literal(true), revoked: z.literal(true) }).meta({ id: 'RevokedApiKey' });

/** What a key used of what it may do, as far back as its uses are known (interface rule 70 §3.8). */
export const ApiKeyUses = z
  .object({
    /** how many capabilities its roles and scopes give it */
    held: z.int(),
    used: z.array(z.object({ capability: z.string(), last_used_at: time() })),
    /** seeded roles that cover everything it used with fewer capabilities than it has; null when there are none */
    narrower_role_ids: z.array(z.uuid()).nullable(),
    /** what is turned on and calls routes in its name: it stops when the key ends */
    acting: z.array(z.object({ type: z.enum(['workflow', 'inbound_webhook']), id: z.uuid(), name: z.string() })),
  })
  .meta({ id: 'ApiKeyUses' });

/** Versions of the API, newest first, and which of them each key asked for since a day. `named` is false where the header was left out. */
export const SeenVersions = z
  .object({
    versions: z.array(z.object({ version: z.string(), released_at: z.string(), summary: z.string(), newest: z.boolean() })),
    since: time(),
    seen: z.array(
      z.object({
        space: z.enum(['live', 'test']),
        api_key_id: z.uuid(),
        /** Null when the key is gone. */
        name: z.string().nullable(),
        key_id: z.string().nullable(),
        active: z.boolean(),
        version: z.string(),
        named: z.boolean(),
        calls: z.int(),
        last_at: time(),
      }),
    ),
  })
  .meta({ id: 'SeenVersions' });
