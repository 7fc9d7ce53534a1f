import { classifyCredential } from '#server/crypto/tokens.ts';
import { type Backing, type BackingRule, backingColumn } from '#server/custody/backing.ts';
import { sql } from '#server/platform/sql.ts';
import { type KeyedLookup, keyedLookup } from './keyed-lookup.ts';

/** A gateway token as it is stored (interface rule 33 §8); whether it may still be used its last two members say. */
export type WrapToken = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  secret_id: string;
  digest: Uint8Array;
  host: string;
  expires_at: Date | null;
  revoked_at: Date | null;
  /** What minted it, as it is now. */
  backing: Backing | null;
};

/** What a gateway token does, whoever minted it must still be allowed to do. Those of a person stay when they leave, until somebody revokes them. */
export const WRAP_BACKING: BackingRule = { needs: 'proxy:invoke', people: 'stay' };

export type WrapTokens = Pick<KeyedLookup<WrapToken>, 'find' | 'forget' | 'forgetAll'> & {
  /** Takes the payload of an announcement: the token is looked up again. */
  heard(payload: string): void;
};

/** A lost announcement keeps a revoked token alive for at most this long. */
const TTL_MS = 2_000;
const MAX_TOKENS = 20_000;
const MAX_LOADS = 64;

/** Nothing is decided by a row older than the TTL: without the database calls are refused, and never with 401. */
export function wrapTokens(): WrapTokens {
  const { find, forget, forgetAll, forgetOne } = keyedLookup<WrapToken>({
    load: async (text, digest) => (classifyCredential(text).kind === 'gateway_token' ? tokenRow(digest) : undefined),
    max: MAX_TOKENS,
    ttl_ms: TTL_MS,
    negative_ttl_ms: TTL_MS,
    max_loads: MAX_LOADS,
  });
  return { find, forget, forgetAll, heard: (payload) => forgetOne(Buffer.from(payload.split(':')[1] ?? '', 'hex')) };
}

async function tokenRow(digest: Uint8Array): Promise<WrapToken | undefined> {
  const { rows } = await sql().query<WrapToken>({ name: 'wrap-token', text: QUERY, values: [digest] });
  return rows[0];
}

const QUERY = `select t.id, t.tenant_id, t.sandbox, t.secret_id, t.token_hash as digest, t.host, t.expires_at, t.revoked_at,
    ${backingColumn('t.created_by::uuid', 't.tenant_id')}
  from wrap_tokens t where t.token_hash = $1`;
