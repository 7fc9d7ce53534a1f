import { type KeyRow, keyRow } from '#server/api/api-key.ts';
import { classifyCredential } from '#server/crypto/tokens.ts';
import { forgetRules } from '#server/domain/policies/rule-cache.ts';
import { type Listener, listen } from '#server/platform/notify.ts';
import { type KeyedLookup, keyedLookup } from './keyed-lookup.ts';

export type ApiKeys = Pick<KeyedLookup<KeyRow>, 'find' | 'forget'> & { close(): Promise<void> };

/** A lost announcement keeps a revoked key alive for at most this long (quality: 2 s on other processes). */
const TTL_MS = 2_000;
const MAX_KEYS = 20_000;

/** API keys for calls of /v1 that this gateway serves itself. Changes of a key or of its workspace are announced by triggers and drop it. */
export function apiKeys(): ApiKeys {
  const { find, forget, forgetAll } = keyedLookup<KeyRow>({
    load: async (text) => {
      const credential = classifyCredential(text);
      return credential.kind === 'api_key' || credential.kind === 'access_key' ? keyRow(credential.key_id) : undefined;
    },
    max: MAX_KEYS,
    ttl_ms: TTL_MS,
    negative_ttl_ms: TTL_MS,
  });
  const listener: Listener = listen({
    channels: ['config_changed', 'tenant_changed'],
    onMessage: (_, payload) => {
      const [tenantId = ''] = payload.split(':');
      forget(tenantId);
      forgetRules(tenantId);
    },
    // Announcements made while nothing listened were lost.
    onConnect: forgetAll,
  });
  return { find, forget, close: () => listener.close() };
}
