import { digest } from '#server/crypto/tokens.ts';
import { BACKING, type Backing, isStillBacked } from '#server/domain/client-tokens/backing.ts';
import type { PlanName } from '#server/domain/plans/schema.ts';
import { isServableStatus } from '#server/domain/tenants/schema.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import { type MintedBy, spaceOf } from '#server/kernel/context.ts';
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
  backing: Backing | null;
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
export const isBacked = ({ backing, subscription_status, vault_live }: ClientTokenRow, needs: Capability, now: Date): boolean =>
  isServableStatus(subscription_status) && vault_live && isStillBacked(backing, needs, now);

const LOOK_UP = `select t.id, t.tenant_id, t.sandbox, t.action, t.payload_sha256, t.key_id, t.vault_id, t.token_id, t.origins, t.role,
    t.minted_by_type, t.minted_by_id, t.minted_by_label, t.expires_at, t.consumed_at, t.burned_at, t.revoked_at,
    w.subscription_plan as plan, w.subscription_status,
    ${BACKING},
    t.vault_id is null or exists (select from vaults v where v.id = t.vault_id and v.deleted_at is null) as vault_live
  from client_tokens t join tenants w on w.id = t.tenant_id and w.deleted_at is null
  where t.token_hash = $1`;
