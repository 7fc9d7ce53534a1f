import { type KeyRow, keyRow } from '#server/api/api-key.ts';
import { classifyCredential } from '#server/crypto/tokens.ts';
import { type KeyedLookup, keyedLookup } from './keyed-lookup.ts';

export type ApiKeys = KeyedLookup<KeyRow>;

/** A lost announcement keeps a revoked key alive for at most this long (quality: 2 s on other processes). */
const TTL_MS = 2_000;
const MAX_KEYS = 20_000;

/** API keys for calls of /v1 that this gateway serves itself. Dropped when a change of the key or of its workspace is announced (`credentials.ts`). */
export const apiKeys = (): ApiKeys =>
  keyedLookup<KeyRow>({
    load: async (text) => {
      const credential = classifyCredential(text);
      return credential.kind === 'api_key' || credential.kind === 'access_key' ? keyRow(credential.key_id) : undefined;
    },
    max: MAX_KEYS,
    ttl_ms: TTL_MS,
    negative_ttl_ms: TTL_MS,
  });
