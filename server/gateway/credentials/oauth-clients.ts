import { clientById, type OAuthClient } from '#server/domain/oauth-grants/client.ts';
import { type KeyedLookup, keyedLookup } from './keyed-lookup.ts';

/** A client as it was at most `TTL_MS` ago. `digest` is that of its id, under which it is kept. */
export type KnownClient = OAuthClient & { digest: Uint8Array };
export type OAuthClients = KeyedLookup<KnownClient>;

/** A lost announcement lets a disabled client mint for at most this long. Its tokens are refused all the same: each check of one asks about its client. */
const TTL_MS = 5_000;
const NEGATIVE_TTL_MS = 1_000;
const MAX_CLIENTS = 10_000;
const MAX_LOADS = 64;

/** OAuth clients for calls of the authorization server that this gateway answers itself, by their ids. Dropped when something of theirs is announced (`credentials.ts`). */
export const oauthClients = (): OAuthClients =>
  keyedLookup<KnownClient>({
    load: async (id, digest) => {
      const client = await clientById(id, new Date());
      return client ? { ...client, digest } : undefined;
    },
    max: MAX_CLIENTS,
    ttl_ms: TTL_MS,
    negative_ttl_ms: NEGATIVE_TTL_MS,
    max_loads: MAX_LOADS,
  });
