import type { DpopKey } from './dpop.ts';
import { clientCredentialsGrant, type TokenEndpoint } from './oauth.ts';

/** What authenticates a request. */
export type Token = {
  text: string;
  /** The key that the token is bound to. Each request then carries a proof of it. */
  key?: DpopKey | undefined;
};

/** Where tokens come from. `refused` is a token that the service has just answered 401; one that can't get another returns it again. */
export type Credential = { token(refused?: string): Promise<Token> };

/** An API key (`tk_live_…`, `tk_test_…`, `AKE…`). */
export const apiKey = (text: string): Credential => ({ token: () => Promise.resolve({ text: text.trim() }) });

/** An access token that somebody else got, with its key when it is bound to one. */
export const accessToken = (text: string, key?: DpopKey): Credential => ({ token: () => Promise.resolve({ text: text.trim(), key }) });

export type ClientCredentials = {
  client_id: string;
  client_secret: string;
  /** Fewer rights than the client has, separated by spaces. */
  scope?: string;
  /** Binds the tokens to this key; needed by clients with `require_dpop`. */
  key?: DpopKey;
};

/** Gets a token when one is needed, a new one shortly before it ends, and another one after a refusal. Requests at the same time share one. */
export function clientCredentials(endpoint: TokenEndpoint, client: ClientCredentials): Credential {
  let current: { text: string; ends: number } | undefined;
  let pending: Promise<Token> | undefined;
  const mint = async (): Promise<Token> => {
    const { access_token, expires_in } = await clientCredentialsGrant(endpoint, client);
    current = { text: access_token, ends: Date.now() + expires_in * 1000 };
    return { text: access_token, key: client.key };
  };
  return {
    token: async (refused) => {
      if (current && current.text !== refused && current.ends - Date.now() > RENEW_BEFORE_MS)
        return { text: current.text, key: client.key };
      pending ??= mint().finally(() => {
        pending = undefined;
      });
      return pending;
    },
  };
}

/** A token is replaced this long before it ends, so that none ends on the way. */
export const RENEW_BEFORE_MS = 60_000;
