import { classifyCredential } from '#server/crypto/tokens.ts';
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
};

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

const QUERY = `select id, tenant_id, sandbox, secret_id, token_hash as digest, host, expires_at, revoked_at from wrap_tokens where token_hash = $1`;
