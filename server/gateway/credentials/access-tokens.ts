import { classifyCredential } from '#server/crypto/tokens.ts';
import { type AccessToken, isLiveToken, tokenRow } from '#server/domain/oauth-grants/access-tokens.ts';
import { type KeyedLookup, keyedLookup } from './keyed-lookup.ts';

export type AccessTokens = KeyedLookup<AccessToken>;

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
  keyedLookup<AccessToken>({
    load: async (text, digest) => {
      if (classifyCredential(text).kind !== 'oauth_token') return undefined;
      const token = await tokenRow(digest);
      return isLiveToken(token, new Date()) ? token : undefined;
    },
    max,
    ttl_ms: TTL_MS,
    negative_ttl_ms: TTL_MS,
    max_loads: MAX_LOADS,
    stale_ms,
  });
