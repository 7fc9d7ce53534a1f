import { classifyCredential } from '#server/crypto/tokens.ts';
import { type AccessToken, capabilitiesOfToken, isLiveToken, labelOf, tokenRow } from '#server/domain/oauth-grants/access-tokens.ts';
import { compileRanges } from '#server/kernel/address.ts';
import type { Caller } from '../snapshot/model.ts';
import { type KeyedLookup, keyedLookup } from './keyed-lookup.ts';

/** A good token as it was at most `TTL_MS` ago. */
export type KnownToken = AccessToken & { caller: Caller };
export type AccessTokens = KeyedLookup<KnownToken>;

/** A lost announcement keeps a revoked token alive for at most this long. */
const TTL_MS = 1_000;
const MAX_TOKENS = 10_000;
/** Tokens are new every hour, so unlike keys many are looked up for the first time. */
const MAX_LOADS = 64;

export type AccessTokensOptions = {
  /** Milliseconds for which a token that was good goes on being so while the database is away; as long as the snapshot is served. */
  stale_ms: number;
  max?: number | undefined;
};

/** Access tokens for calls that this gateway serves itself. Dropped when something that they rest on is announced (`credentials.ts`). */
export const accessTokens = ({ stale_ms, max = MAX_TOKENS }: AccessTokensOptions): AccessTokens =>
  keyedLookup<KnownToken>({
    load: async (text, digest) => {
      if (classifyCredential(text).kind !== 'oauth_token') return undefined;
      const token = await tokenRow(digest);
      const now = new Date();
      return isLiveToken(token, now) ? { ...token, caller: callerOf(token, now) } : undefined;
    },
    max,
    ttl_ms: TTL_MS,
    negative_ttl_ms: TTL_MS,
    max_loads: MAX_LOADS,
    stale_ms,
  });

function callerOf(token: AccessToken, now: Date): Caller {
  const { client_row_id, client_id, user_id, role, key_row_id, role_ids, ip_allowlist } = token;
  const ends = [token.expires_at, token.key_expires_at, token.key_revoke_at].map((at) => at?.getTime() ?? Infinity);
  return {
    id: key_row_id ?? (user_id === null ? client_row_id : `${client_row_id}:${user_id}`),
    kind: 'oauth_client',
    ref: client_row_id,
    label: labelOf(token),
    digest: token.digest,
    mayInvoke: capabilitiesOfToken(token, now).has('proxy:invoke'),
    allows: ip_allowlist && ip_allowlist.length > 0 ? compileRanges(ip_allowlist) : null,
    endsAt: Math.min(...ends),
    subject: {
      oauth_client_id: client_row_id,
      user_id,
      ...(role === null ? {} : { role }),
      ...(key_row_id === null ? {} : { api_key_id: key_row_id, key_role_ids: role_ids ?? [] }),
    },
    used: key_row_id === null ? [client_row_id] : [client_row_id, key_row_id],
    apiKeyId: key_row_id,
    oauthClientId: client_id,
    userId: user_id,
  };
}
