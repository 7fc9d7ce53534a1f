import { z } from 'zod';
import { uploadId } from '#server/domain/pictures/schema.ts';
import { FEATURES, LIMITS, PLANS } from '#server/domain/plans/schema.ts';
import {
  DASHBOARD_RANGES_AT_MOST,
  LOG_PAYLOADS,
  SESSION_IDLE_MINUTES,
  SESSION_MAX_HOURS,
  TRUSTED_RANGES_AT_MOST,
  tenantSlug,
} from '#server/domain/tenants/schema.ts';
import { addressRange } from '#server/kernel/address-field.ts';
import { atLeastOne, label, pathId, time } from '#server/kernel/fields.ts';

/** The workspace as its own API shows it (interface rule 00, Account). */
export const Account = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    region: z.string(),
    subscription_plan: z.enum(PLANS),
    subscription_status: z.enum(['trialing', 'active', 'dunning', 'past_due', 'paused', 'cancelled']),
    trial_start_at: time().nullable(),
    trial_end_at: time().nullable(),
    subscription_current_period_start: time().nullable(),
    subscription_current_period_end: time().nullable(),
    subscription_cancel_at: time().nullable(),
    /** Where the routes of this space are called. */
    proxy_url: z.string(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'Account' });

export const UpdateAccount = atLeastOne(z.object({ name: label(120).optional() }), []);

/**
 * Settings that this release acts on, by name, as a change of them is judged. `TenantSettings` holds their defaults. A setting whose feature comes
 * later isn't here, so it is neither shown nor accepted.
 */
const settings = {
  session_idle_minutes: z.number().int().min(SESSION_IDLE_MINUTES.least).max(SESSION_IDLE_MINUTES.most).nullable(),
  session_max_hours: z.number().int().min(SESSION_MAX_HOURS.least).max(SESSION_MAX_HOURS.most).nullable(),
  /** Which payloads routes keep that don't say otherwise. */
  log_payloads_default: z.enum(LOG_PAYLOADS),
  /** IP addresses and CIDR ranges; empty: any. */
  dashboard_ip_allowlist: z.array(addressRange()).max(DASHBOARD_RANGES_AT_MOST),
  /** Whoever reveals a value must say why. */
  require_reveal_reason: z.boolean(),
  escrow_never_reveal: z.boolean(),
  /** Owners and Admins too see details of audit entries only as a reveal. */
  details_withheld: z.boolean(),
  /** Every member needs a second factor. */
  require_mfa: z.boolean(),
  /** Disabled: API keys only work at the token endpoint. */
  legacy_key_auth: z.enum(['enabled', 'disabled']),
  /** DPoP proofs must carry a nonce of the service. */
  dpop_nonce_required: z.boolean(),
  /** Members may log in with service-cli. */
  cli_login_enabled: z.boolean(),
  /** Members may sign in to MCP servers with applications that the workspace hasn't registered. */
  allow_client_id_documents: z.boolean(),
  /** IP addresses and CIDR ranges whose changes of place say nothing. */
  trusted_egress_cidrs: z.array(addressRange()).max(TRUSTED_RANGES_AT_MOST),
  /** Capability tokens that a person minted end when they leave. */
  revoke_on_offboarding: z.boolean(),
};
export type Setting = keyof typeof settings;
export const SETTINGS = Object.keys(settings) as Setting[];
/** What an Owner alone may change. */
export const OWNER_SETTINGS: ReadonlySet<Setting> = new Set<Setting>(['require_mfa']);

/** What only the dashboard shows and sets of a workspace (interface rule 22 §11). */
export const WorkspaceSettings = z.object({
  name: z.string(),
  /** Served at /auth/avatars/{id}. */
  logo: z.uuid().nullable(),
  ...settings,
});

/** `logo_upload_id`: what POST /auth/avatars answered; null takes the logo down. */
export const UpdateWorkspaceSettings = atLeastOne(
  z.strictObject({ name: label(120), logo_upload_id: uploadId(), ...settings }).partial(),
  [],
);

/** `confirm_slug` is the current one. */
export const ChangeSlug = z.strictObject({ slug: tenantSlug(), confirm_slug: z.string().max(100) });
export const DeleteWorkspace = z.strictObject({ confirm_slug: z.string().max(100) });
export const WorkspaceDeleted = z.object({ deleted: z.literal(true), /** until then an Owner can restore it */ erased_after: time() });
export const DeletedWorkspaces = z.object({
  workspaces: z.array(z.object({ id: z.uuid(), slug: z.string(), name: z.string(), deleted_at: time(), erased_after: time() })),
});
export const RestoreWorkspace = z.object({ id: pathId() });
export const WorkspaceRestored = z.object({ workspace: z.object({ id: z.uuid(), slug: z.string(), name: z.string() }) });

const metered = z.object({ used: z.number().int(), limit: z.number().int().nullable() });

/** Counted things of this space against the plan (interface rule 20 §2). */
export const Usage = z
  .object({
    billing_period: z.object({ year: z.number().int(), month: z.number().int(), start: time().nullable(), end: time().nullable() }),
    api_calls: z.object({ used: z.number().int(), limit: z.number().int().nullable(), percentage: z.number() }),
    resources: z.record(z.string(), metered),
    forecast: z.object({ api_calls: z.number().int().nullable() }),
    /** null: kept without an end */
    log_retention_days: z.number().int().nullable(),
    audit_retention_days: z.number().int().nullable(),
    plan: z.enum(PLANS),
    status: z.string(),
  })
  .meta({ id: 'Usage' });

/** Effective limits and features with what is used, for the dashboard (interface rule 20 §3.6). */
export const Plan = z.object({
  plan: z.enum(PLANS),
  status: z.string(),
  limits: z.array(
    z.object({
      key: z.enum(Object.keys(LIMITS) as [keyof typeof LIMITS, ...(keyof typeof LIMITS)[]]),
      limit: z.number().int().nullable(),
      used: z.number().int().nullable(),
      overridden: z.boolean(),
    }),
  ),
  features: z.array(
    z.object({ key: z.enum(FEATURES as unknown as [string, ...string[]]), included: z.boolean(), usable_here: z.boolean() }),
  ),
});
