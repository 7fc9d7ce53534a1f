import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import { memberCapabilities, scopesOfKey } from '#server/kernel/capabilities.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { scopesForPerson } from '#server/kernel/scopes.ts';
import { sql } from '#server/platform/sql.ts';
import { type AccessToken, currentScopes, isLiveToken, tokenRow } from './access-tokens.ts';
import { apiResource } from './addresses.ts';
import { clientByRow } from './client.ts';
import { grantedNow, STANDING, type Standing, standingOf } from './person.ts';

// What RFC 7662 says about a token. Loads no Prisma: the gateway answers too.

export type Introspection =
  | { active: false }
  | {
      active: true;
      scope: string;
      client_id: string;
      token_type: 'Bearer' | 'DPoP' | 'refresh_token';
      exp: number;
      iat: number;
      sub: string;
      aud: string;
      iss: string;
      jti: string;
      tenant: string;
      sandbox: boolean;
      kind: 'client' | 'user' | 'workload';
      cnf?: { jkt: string };
    };

/** Whoever asks learns only about tokens of their own workspace and space. */
export type Asking = { tenant_id: string; sandbox: boolean };

/** One answer for unknown, malformed, expired, revoked and foreign tokens, and for API keys. */
const INACTIVE: Introspection = { active: false };

/** What a token is worth now, for its workspace. `iss` is the issuer that was asked; `find` may know tokens from a moment ago. */
export async function introspection(
  text: string,
  asking: Asking,
  iss: string,
  now: Date,
  find: (text: string) => Promise<AccessToken | undefined> = (token) => tokenRow(digest(token)),
): Promise<Introspection> {
  switch (classifyCredential(text).kind) {
    case 'oauth_token':
      return ofAccess(await find(text), asking, iss, now);
    case 'refresh_token_live':
    case 'refresh_token_test':
      return ofRefresh(text, asking, iss, now);
    default:
      return INACTIVE;
  }
}

const isOf = (row: Asking, { tenant_id, sandbox }: Asking) => row.tenant_id === tenant_id && row.sandbox === sandbox;
const seconds = (at: Date) => Math.floor(at.getTime() / 1000);

function ofAccess(row: AccessToken | undefined, asking: Asking, iss: string, now: Date): Introspection {
  if (!isLiveToken(row, now) || !isOf(row, asking)) return INACTIVE;
  const { kind, client_id, user_id, binding_id, cnf_jkt } = row;
  return {
    active: true,
    scope: scopesNow(row, now).join(' '),
    client_id,
    token_type: cnf_jkt === null ? 'Bearer' : 'DPoP',
    exp: seconds(row.expires_at),
    iat: seconds(row.issued_at),
    sub: kind === 'client' ? `client:${client_id}` : kind === 'user' ? `user:${user_id}` : `binding:${binding_id}`,
    aud: row.aud ?? apiResource(spaceOf(row.sandbox)),
    iss,
    jti: row.id,
    tenant: row.tenant_slug,
    sandbox: row.sandbox,
    kind,
    ...(cnf_jkt === null ? {} : { cnf: { jkt: cnf_jkt } }),
  };
}

/** The scopes of a live token that still count: of its client, and of the person, key or workload behind it. */
function scopesNow(token: AccessToken, now: Date): string[] {
  const { key_row_id, role_ids, scoped, key_scopes, role, reveal_secrets, kind, binding_scopes } = token;
  const allowed =
    key_row_id === null
      ? token.allowed_scopes
      : scopesOfKey({ role_ids: role_ids ?? [], scoped: scoped ?? false, scopes: key_scopes ?? [] });
  const scopes = currentScopes(token, now).filter(
    (scope) => allowed.includes(scope) && (kind !== 'workload' || (binding_scopes?.includes(scope) ?? false)),
  );
  if (kind !== 'user' || role === null) return scopes;
  const held = memberCapabilities(role, { reveal_secrets });
  return [...scopesForPerson(scopes, role, (capability) => held.has(capability))];
}

type RefreshRow = Standing & {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  client_row_id: string;
  user_id: string;
  scopes: string[];
  resource: string | null;
  jkt: string | null;
  step_up_at: Date | null;
  created_at: Date;
  expires_at: Date;
};

async function ofRefresh(text: string, asking: Asking, iss: string, now: Date): Promise<Introspection> {
  const { rows } = await sql().query<RefreshRow>({ name: 'oauth-refresh-introspection', text: FIND, values: [digest(text), now] });
  const row = rows[0];
  const client = row && isOf(row, asking) ? await clientByRow(row.client_row_id, now) : null;
  if (!row || !client?.active || row.role === null) return INACTIVE;
  return {
    active: true,
    scope: grantedNow(row.scopes, client, { ...row, role: row.role }, row.step_up_at, now).join(' '),
    client_id: client.client_id,
    token_type: 'refresh_token',
    exp: seconds(row.expires_at),
    iat: seconds(row.created_at),
    sub: `user:${row.user_id}`,
    aud: row.resource ?? apiResource(spaceOf(row.sandbox)),
    iss,
    jti: row.id,
    tenant: client.tenant_slug,
    sandbox: row.sandbox,
    kind: 'user',
    ...(row.jkt === null ? {} : { cnf: { jkt: row.jkt } }),
  };
}

const FIND = `select r.id, r.tenant_id, r.sandbox, f.client_row_id, f.user_id, f.scopes, f.resource, f.jkt, f.step_up_at, r.created_at, r.expires_at, ${STANDING}
  from oauth_refresh r join oauth_families f on f.id = r.family_id ${standingOf('f.tenant_id', 'f.user_id')}
  where r.digest = $1 and r.consumed_at is null and r.revoked_at is null and r.expires_at > $2 and f.revoked_at is null`;
