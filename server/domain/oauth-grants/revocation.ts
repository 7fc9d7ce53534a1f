import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import type { OAuthClient } from './client.ts';
import { endFamilies } from './families.ts';

type Caller = { request_id: string; ip: string | null; user_agent: string | null };

/**
 * Ends a token of the client (RFC 7009): an access token alone, a refresh token with its whole family, also when it was rotated away. A token that is
 * unknown or another client's changes nothing.
 */
export async function revokeToken(client: OAuthClient, text: string, caller: Caller, now: Date): Promise<void> {
  switch (classifyCredential(text).kind) {
    case 'oauth_token':
      await sql().query({
        name: 'oauth-revoke-access',
        text: 'update oauth_access set revoked_at = $3 where digest = $1 and client_row_id = $2 and revoked_at is null',
        values: [digest(text), client.id, now],
      });
      return;
    case 'refresh_token_live':
    case 'refresh_token_test':
      return revokeFamilyOf(client, text, caller, now);
    default:
  }
}

async function revokeFamilyOf(client: OAuthClient, text: string, caller: Caller, now: Date): Promise<void> {
  const { rows } = await sql().query<{ id: string; user_id: string; scopes: string[] }>({
    name: 'oauth-family-of-refresh',
    text: `select f.id, f.user_id, f.scopes from oauth_refresh r join oauth_families f on f.id = r.family_id
      where r.digest = $1 and f.client_row_id = $2 and f.revoked_at is null`,
    values: [digest(text), client.id],
  });
  const family = rows[0];
  if (!family) return;
  const { tenant_id, sandbox } = client;
  const ctx = { ...systemContext(db(), { tenant_id, sandbox, now, label: client.name }), ...caller };
  await mutate(ctx, async (tx) => {
    if ((await endFamilies(tx, [family.id], 'revoked_by_client', now)) === 0) return unchanged(null);
    return audited(null, {
      action: 'revoke',
      resource_type: 'oauth_grant',
      resource_id: family.id,
      name: client.name,
      reason: 'revoked_by_client',
      details: { client_id: client.client_id, user_id: family.user_id, scopes: family.scopes },
    });
  });
}
