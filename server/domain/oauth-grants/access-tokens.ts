import type { PlanName } from '#server/domain/plans/schema.ts';
import { type Capability, capabilitiesOfKey, type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import { expandScopes, PERSON_FORBIDDEN } from '#server/kernel/scopes.ts';
import { isConfirmed } from '#server/kernel/step-up.ts';
import { sql } from '#server/platform/sql.ts';

// What an access token is worth at the moment of a call (interface rules 21 §2, 24 §1). Loads no Prisma: the gateway reads tokens too.

/** An access token with everything that its worth depends on, as it is now. */
export type AccessToken = {
  id: string;
  digest: Uint8Array;
  tenant_id: string;
  sandbox: boolean;
  kind: 'client' | 'user' | 'workload';
  client_row_id: string;
  client_id: string;
  client_name: string;
  client_active: boolean;
  /** Whether what the client had obtained ended after it was authenticated for this token, which may have been stored only then. */
  outdated: boolean;
  allowed_scopes: string[];
  step_up_scopes: string[];
  scopes: string[];
  /** Capabilities that the scopes stood for when it was issued. */
  ceiling: string[];
  /** An MCP server that it is for; null: the Management API and the proxy. */
  aud: string | null;
  /** Thumbprint of the key it is bound to. */
  cnf_jkt: string | null;
  issued_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
  step_up_at: Date | null;
  family_id: string | null;
  /** When the person approved the login that the token came from. */
  family_created_at: Date | null;
  family_revoked: boolean;
  user_id: string | null;
  /** Null when the person is no longer a member, or their account is disabled. */
  role: MemberRole | null;
  reveal_secrets: boolean;
  email: string | null;
  binding_id: string | null;
  binding_name: string | null;
  /** Null without an enabled binding. */
  binding_scopes: string[] | null;
  /** The API key that the client mirrors. */
  key_row_id: string | null;
  key_active: boolean | null;
  key_expires_at: Date | null;
  key_revoke_at: Date | null;
  role_ids: string[] | null;
  scoped: boolean | null;
  key_scopes: string[] | null;
  ip_allowlist: string[] | null;
  rate_limit_requests: number | null;
  rate_limit_window_sec: number | null;
  tenant_slug: string;
  subscription_plan: PlanName;
  subscription_status: string;
  settings: unknown;
  deleted_at: Date | null;
};

/** The token of a digest, whether or not it is still good. One statement, by unique indexes only. */
export async function tokenRow(digest: Uint8Array): Promise<AccessToken | undefined> {
  const { rows } = await sql().query<AccessToken>({ name: 'access-token', text: QUERY, values: [digest] });
  return rows[0];
}

const QUERY = `select a.id, a.digest, a.tenant_id, a.sandbox, a.kind, a.client_row_id, a.scopes, a.ceiling, a.aud, a.cnf_jkt, a.issued_at, a.expires_at, a.revoked_at,
    a.step_up_at, a.family_id, a.user_id, a.binding_id,
    c.client_id, c.name as client_name, c.active and c.revoked_at is null as client_active, a.client_epoch <> c.epoch as outdated, c.allowed_scopes, c.step_up_scopes,
    f.created_at as family_created_at, f.revoked_at is not null as family_revoked,
    case when u.disabled_at is null then m.role end as role, coalesce(m.reveal_secrets, false) as reveal_secrets, u.email,
    b.name as binding_name, b.scopes as binding_scopes,
    c.source_api_key_id as key_row_id, k.active as key_active, k.expires_at as key_expires_at, k.revoke_at as key_revoke_at, k.role_ids, k.scoped, k.scopes as key_scopes,
    k.ip_allowlist, k.rate_limit_requests, k.rate_limit_window_sec,
    t.slug as tenant_slug, t.subscription_plan, t.subscription_status, t.settings, t.deleted_at
  from oauth_access a
  join oauth_clients c on c.id = a.client_row_id and c.tenant_id = a.tenant_id and c.sandbox = a.sandbox
  join tenants t on t.id = a.tenant_id
  left join oauth_families f on f.id = a.family_id
  left join memberships m on m.tenant_id = a.tenant_id and m.user_id = a.user_id and m.removed_at is null
  left join users u on u.id = a.user_id
  left join oauth_trust_bindings b on b.id = a.binding_id and b.client_row_id = c.id and b.enabled
  left join api_keys k on k.id = c.source_api_key_id
  where a.digest = $1`;

/**
 * Whether a token is good: neither revoked nor expired, its client active, the key behind it too, its person still a member, its binding enabled. All
 * that isn't is refused alike.
 */
export function isLiveToken(token: AccessToken | undefined, now: Date): token is AccessToken {
  if (!token || token.revoked_at !== null || token.expires_at <= now || !token.client_active || token.family_revoked || token.deleted_at)
    return false;
  if (token.kind === 'user' ? token.role === null : token.user_id !== null) return false;
  // A workload obtains its tokens without the secret of the client, so they outlive it (see `endTokens` of the clients).
  if (token.kind === 'workload' ? token.binding_scopes === null : token.outdated) return false;
  return token.key_row_id === null || (token.key_active === true && !past(token.key_expires_at, now) && !past(token.key_revoke_at, now));
}

const past = (at: Date | null, now: Date) => at !== null && at <= now;

/** The scopes that count now: those of the second factor only for eight hours after it, and only for a person. */
export const currentScopes = ({ kind, scopes, step_up_scopes, step_up_at }: AccessToken, now: Date): string[] =>
  kind === 'user' && isConfirmed(step_up_at, now) ? scopes : scopes.filter((scope) => !step_up_scopes.includes(scope));

/**
 * What a live token may do, before tenant policies: never more than its scopes stood for at its birth, than its client may, and than the person, key or
 * workload behind it may now. A person's token never has what only reveals give a person, whatever its row says.
 */
export function capabilitiesOfToken(token: AccessToken, now: Date): ReadonlySet<Capability> {
  const bounds: ReadonlySet<Capability>[] = [new Set(token.ceiling as Capability[]), ofClient(token)];
  if (token.kind === 'user') bounds.push(ofPerson(token));
  if (token.kind === 'workload') bounds.push(expandScopes(token.binding_scopes ?? []));
  return new Set([...expandScopes(currentScopes(token, now))].filter((capability) => bounds.every((bound) => bound.has(capability))));
}

const ofClient = ({ key_row_id, allowed_scopes, role_ids, scoped, key_scopes }: AccessToken): ReadonlySet<Capability> =>
  key_row_id === null
    ? expandScopes(allowed_scopes)
    : capabilitiesOfKey({ role_ids: role_ids ?? [], scoped: scoped ?? false, scopes: key_scopes ?? [] });

const ofPerson = ({ role, reveal_secrets }: AccessToken): ReadonlySet<Capability> =>
  role === null ? new Set() : memberCapabilities(role, { reveal_secrets }).difference(PERSON_FORBIDDEN);

/** What people and the audit log call whoever presents the token: the application, and whom it acts for. */
export function labelOf({ kind, client_name, email, binding_name }: AccessToken): string {
  if (kind === 'user') return `${client_name} for ${email}`;
  return kind === 'workload' ? `${client_name} (${binding_name})` : client_name;
}
