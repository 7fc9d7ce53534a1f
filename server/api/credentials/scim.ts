import { digest, digestEquals } from '#server/crypto/tokens.ts';
import { sql } from '#server/platform/sql.ts';
import type { CredentialReader } from './credential-reader.ts';

/** A live SCIM credential with what the plane must know of its workspace. */
export type ScimCaller = {
  id: string;
  name: string;
  prefix: string;
  space: 'live' | 'test';
  tenant_id: string;
  plan: 'free' | 'starter' | 'pro' | 'enterprise';
  subscription_status: string;
  enterprise_ended_by: string | null;
};

type Row = ScimCaller & { digest: Buffer; expires_at: Date };

/** `scim_` tokens (interface rule 23 §3). No cache: revocation works on the next request. */
export const scimCredentials: CredentialReader<ScimCaller, { now: Date }> = {
  kinds: ['scim'],
  read: async (text, { now }) => {
    const presented = digest(text);
    const { rows } = await sql().query<Row>({ name: 'scim-credential', text: LOOK_UP, values: [presented] });
    const [row] = rows;
    if (!row || !digestEquals(row.digest, presented) || row.expires_at <= now) return null;
    const { digest: _, expires_at: __, ...caller } = row;
    return caller;
  },
};

const LOOK_UP = `select c.id, c.name, c.prefix, c.space, c.tenant_id, c.digest, c.expires_at,
    t.subscription_plan as plan, t.subscription_status, t.enterprise_ended_by
  from scim_credentials c join tenants t on t.id = c.tenant_id where c.digest = $1 and c.revoked_at is null and t.deleted_at is null`;
