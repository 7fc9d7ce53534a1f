import { z } from 'zod';
import { slugOfName } from '#server/kernel/slug.ts';

export { isServableStatus } from './status.shared.ts';

/** Labels that name other hosts of the service (interface rule 01 §1.5), and first segments of the dashboard's and the API's own paths. */
const HOSTS =
  'api sandbox api-staging sandbox-staging www staging admin auth app dashboard docs status mail mcp wrap cdn static assets support billing hooks scim pub agent';
const PATHS = 'shared-secret me signin signup forgot reset mailbox onboarding invitation check-mail changelog v1 oauth p healthz readyz';
const RESERVED_SLUGS: ReadonlySet<string> = new Set(`${HOSTS} ${PATHS}`.split(' '));

/** At most 55 characters, so that `sandbox-{slug}` is still a DNS label. */
export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,53}[a-z0-9])?$/;

export const isUsableSlug = (slug: string) => SLUG.test(slug) && !RESERVED_SLUGS.has(slug) && !slug.startsWith('sandbox-');

export const tenantSlug = () =>
  z
    .string()
    .trim()
    .transform((s) => s.toLowerCase())
    .refine(
      isUsableSlug,
      'must be 1 to 55 lowercase letters, digits or hyphens, must not start or end with a hyphen, and must not be a reserved word',
    );

export const REGIONS = ['us', 'eu', 'au'] as const;
export type Region = (typeof REGIONS)[number];

const EU = new Set('AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE IS LI NO GB CH'.split(' '));
export const regionOf = (country: string | null | undefined): Region =>
  country === 'AU' || country === 'NZ' ? 'au' : country && EU.has(country) ? 'eu' : 'us';

/** A slug from a workspace name; never empty, never reserved. */
export function slugFrom(name: string): string {
  const base = slugOfName(name, 50);
  return base && isUsableSlug(base) ? base : `${base || 'workspace'}-1`.replace(/^sandbox-/, 'workspace-');
}

const HOUR_MINUTES = 60;
const MONTH_HOURS = 30 * 24;
/** Caps of the sessions that may act in the workspace; null: the service's own lifetimes (interface rule 22 §3.1). */
export const SESSION_IDLE_MINUTES = { least: 5, most: 14 * 24 * HOUR_MINUTES };
export const SESSION_MAX_HOURS = { least: 1, most: MONTH_HOURS };
export const DASHBOARD_RANGES_AT_MOST = 50;
export const TRUSTED_RANGES_AT_MOST = 50;

/** Which calls keep their payloads with the log. */
export const LOG_PAYLOADS = ['all', 'errors', 'off'] as const;

/** Workspace settings with their defaults (interface rule 22 §11); tenants.settings holds only what differs. */
export const TenantSettings = z.object({
  session_idle_minutes: z.number().nullable().default(null),
  session_max_hours: z.number().nullable().default(null),
  /** Addresses that members may use the dashboard from; empty: any. */
  dashboard_ip_allowlist: z.array(z.string()).default([]),
  /** Every member needs a second factor. */
  require_mfa: z.boolean().default(false),
  proxy_require_credential: z.boolean().default(false),
  /** Disabled: API keys only work at the token endpoint, and access tokens elsewhere. */
  legacy_key_auth: z.enum(['enabled', 'disabled']).default('enabled'),
  /** DPoP proofs must carry a nonce of the service. */
  dpop_nonce_required: z.boolean().default(false),
  /** Members may log in with service-cli. */
  cli_login_enabled: z.boolean().default(true),
  /** Members may sign in applications that are known by the address of their own description. */
  allow_client_id_documents: z.boolean().default(true),
  /** What routes keep that don't say otherwise. Off: payloads are only kept where somebody turned it on. */
  log_payloads_default: z.enum(LOG_PAYLOADS).default('off'),
  egress_allowlist: z.array(z.string()).nullable().default(null),
  details_withheld: z.boolean().default(false),
  sso_required: z.boolean().default(false),
  jit_joining: z.boolean().default(false),
  require_reveal_reason: z.boolean().default(false),
  /** Wrap credentials are used and never shown, whatever a person's role. */
  escrow_never_reveal: z.boolean().default(true),
  /** Addresses and ranges between which a capability token may move as it likes: CI runners, and NATs of clouds. */
  trusted_egress_cidrs: z.array(z.string()).default([]),
  /** Capability tokens that a person minted end when they leave. */
  revoke_on_offboarding: z.boolean().default(true),
});
export type TenantSettings = z.output<typeof TenantSettings>;
export const settingsOf = (stored: unknown): TenantSettings => TenantSettings.parse(stored ?? {});
