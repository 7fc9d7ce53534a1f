import { digest } from '#server/crypto/tokens.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';
import { type Capability, capabilitiesOfKey } from '#server/kernel/capabilities.ts';
import { type MintedBy, spaceOf } from '#server/kernel/context.ts';
import { expandScopes } from '#server/kernel/scopes.ts';
import { sql } from '#server/platform/sql.ts';
import type { Edge } from '../edge.ts';
import type { CredentialReader } from './credential-reader.ts';

/** A client token as its row has it, with what its workspace and the credential that minted it say about it now. */
export type ClientTokenRow = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  action: 'decrypt' | 'detokenize' | 'tokenize';
  payload_sha256: Buffer | null;
  key_id: string | null;
  vault_id: string | null;
  token_id: string | null;
  origins: string[];
  role: string | null;
  minted_by_type: MintedBy['type'];
  minted_by_id: string;
  minted_by_label: string;
  expires_at: Date;
  consumed_at: Date | null;
  burned_at: Date | null;
  revoked_at: Date | null;
  plan: PlanName;
  subscription_status: string;
  /** The key that minted it, or that the client which minted it mirrors. */
  key_live: boolean | null;
  role_ids: string[] | null;
  scoped: boolean | null;
  scopes: string[] | null;
  client_live: boolean | null;
  allowed_scopes: string[] | null;
  member_live: boolean | null;
  vault_live: boolean;
};

/** `kct_` tokens (interface rule 41 §12), of this space. No cache: a token is spent once, and revocation works on the next request. */
export const clientTokens: CredentialReader<ClientTokenRow, { edge: Edge }> = {
  kinds: ['client_token'],
  read: async (text, { edge }) => {
    const { rows } = await sql().query<ClientTokenRow>({ name: 'client-token', text: LOOK_UP, values: [digest(text)] });
    const [row] = rows;
    return row && spaceOf(row.sandbox) === edge.space ? row : null;
  },
};

/** Whether the credential that minted the token still has what the token exercises, and its workspace and vault are there. */
export function isBacked(row: ClientTokenRow, capability: Capability): boolean {
  if (!isServableStatus(row.subscription_status) || !row.vault_live) return false;
  const byKey = () =>
    row.key_live === true &&
    capabilitiesOfKey({ role_ids: row.role_ids ?? [], scoped: row.scoped ?? false, scopes: row.scopes ?? [] }).has(capability);
  switch (row.minted_by_type) {
    case 'api_key':
      return byKey();
    case 'oauth_client':
      return row.client_live === true && (row.key_live === null ? expandScopes(row.allowed_scopes ?? []).has(capability) : byKey());
    case 'user':
      return row.member_live === true;
    default:
      return false;
  }
}

const LOOK_UP = `select t.id, t.tenant_id, t.sandbox, t.action, t.payload_sha256, t.key_id, t.vault_id, t.token_id, t.origins, t.role,
    t.minted_by_type, t.minted_by_id, t.minted_by_label, t.expires_at, t.consumed_at, t.burned_at, t.revoked_at,
    w.subscription_plan as plan, w.subscription_status,
    k.active and k.revoked_at is null and coalesce(k.expires_at > now(), true) and coalesce(k.revoke_at > now(), true) as key_live,
    k.role_ids, k.scoped, k.scopes, c.active and c.revoked_at is null as client_live, c.allowed_scopes,
    (select true from memberships m where m.tenant_id = t.tenant_id and m.user_id = t.minted_by_id and m.removed_at is null limit 1) as member_live,
    t.vault_id is null or exists (select from vaults v where v.id = t.vault_id and v.deleted_at is null) as vault_live
  from client_tokens t join tenants w on w.id = t.tenant_id and w.deleted_at is null
    left join oauth_clients c on t.minted_by_type = 'oauth_client' and c.id = t.minted_by_id
    left join api_keys k on k.id = case t.minted_by_type when 'api_key' then t.minted_by_id when 'oauth_client' then c.source_api_key_id end
  where t.token_hash = $1`;
