import { type Capability, capabilitiesOfKey, type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import { expandScopes } from '#server/kernel/scopes.ts';
import { sql } from '#server/platform/sql.ts';
import { unauthorized } from './problem.ts';

// An account is a long-lived credential that another credential made. It must never get what that one can't get any more.

const NEEDED: Capability = 'pki:sign';

/** Refuses when the credential that made the account ended or lost the right to sign certificates. @throws AcmeProblem unauthorized */
export async function assertBacked(account: { id: string }): Promise<void> {
  if (!(await isBacked(account.id)))
    throw unauthorized(
      'The credential that this account was created with has ended or may no longer sign certificates. Create a new ACME account with another one.',
    );
}

async function isBacked(accountId: string): Promise<boolean> {
  const { rows } = await sql().query<Row>({ name: 'acme-backing', text: LOOK_UP, values: [accountId] });
  const [row] = rows;
  if (!row) return false;
  const byKey = () =>
    row.key_live === true &&
    capabilitiesOfKey({ role_ids: row.role_ids ?? [], scoped: row.scoped ?? false, scopes: row.scopes ?? [] }).has(NEEDED);
  switch (row.minted_by_type) {
    case 'api_key':
      return byKey();
    case 'oauth_client':
      return row.client_live === true && (row.key_live === null ? expandScopes(row.allowed_scopes ?? []).has(NEEDED) : byKey());
    case 'user':
      return row.member_role !== null && memberCapabilities(row.member_role, { reveal_secrets: false }).has(NEEDED);
    default:
      return false;
  }
}

type Row = {
  minted_by_type: string;
  key_live: boolean | null;
  role_ids: string[] | null;
  scoped: boolean | null;
  scopes: string[] | null;
  client_live: boolean | null;
  allowed_scopes: string[] | null;
  member_role: MemberRole | null;
};

const LOOK_UP = `select a.minted_by_type,
    k.active and k.revoked_at is null and coalesce(k.expires_at > now(), true) and coalesce(k.revoke_at > now(), true) as key_live,
    k.role_ids, k.scoped, k.scopes, c.active and c.revoked_at is null as client_live, c.allowed_scopes,
    (select m.role from memberships m where m.tenant_id = a.tenant_id and m.user_id = a.minted_by_id and m.removed_at is null limit 1) as member_role
  from acme_accounts a
    left join oauth_clients c on a.minted_by_type = 'oauth_client' and c.id = a.minted_by_id
    left join api_keys k on k.id = case a.minted_by_type when 'api_key' then a.minted_by_id when 'oauth_client' then c.source_api_key_id end
  where a.id = $1`;
