import type { DpopKey } from './dpop.ts';
import { clientCredentialsGrant, type TokenEndpoint, type Tokens, tokenExchangeGrant } from './oauth.ts';
import type { EnvironmentSettings } from './settings.ts';

/** What authenticates a request. */
export type Token = {
  text: string;
  /** The key that the token is bound to. Each request then carries a proof of it. */
  key?: DpopKey | undefined;
};

/** Where tokens come from. `refused` is a token that the service has just answered 401; one that can't get another returns it again. */
export type Credential = { token(refused?: string): Promise<Token> };

/** An API key (`tk_live_…`, `tk_test_…`, `AKE…`), or an access token that is bound to no key. */
export const bearer = (text: string): Credential => ({ token: () => Promise.resolve({ text: text.trim() }) });
export const apiKey = bearer;

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

/** Access tokens of an OAuth client or of an API key, whose ID and secret are the two parts of its text. */
export const clientCredentials = (endpoint: TokenEndpoint, client: ClientCredentials): Credential =>
  minted(() => clientCredentialsGrant(endpoint, client), client.key);

export type WorkloadIdentity = {
  /** Asked for each time: a CI token lives for minutes, and some are good for one exchange only. */
  subject_token: () => string | Promise<string>;
  scope?: string;
  /** Slug, for a token that several workspaces trust. */
  tenant?: string;
  client_id?: string;
  key?: DpopKey;
};

/** Access tokens for a workload that proves itself by a token of its platform, which a trust binding accepts. No secret is stored. */
export const workloadIdentity = (endpoint: TokenEndpoint, { subject_token, ...rest }: WorkloadIdentity): Credential =>
  minted(async () => tokenExchangeGrant(endpoint, { subject_token: await subject_token(), ...rest }), rest.key);

/** Gets a token when one is needed, a new one shortly before it ends, and another one after a refusal. Requests at the same time share one. */
function minted(mint: () => Promise<Tokens>, key: DpopKey | undefined): Credential {
  let current: { text: string; ends: number } | undefined;
  let pending: Promise<void> | undefined;
  const renew = async () => {
    const { access_token, expires_in } = await mint();
    current = { text: access_token, ends: Date.now() + expires_in * 1000 };
  };
  return {
    token: async (refused) => {
      if (!current || current.text === refused || current.ends - Date.now() < RENEW_BEFORE_MS) {
        pending ??= renew().finally(() => {
          pending = undefined;
        });
        await pending;
      }
      return { text: current?.text ?? '', key };
    },
  };
}

/** What the environment holds: a key or a token, a client's secret, or the identity of a pipeline. */
export function environmentCredential(settings: EnvironmentSettings, endpoint: TokenEndpoint): Credential | undefined {
  const { api_key, access_token, client_id, client_secret, subject_token, tenant } = settings;
  const text = api_key ?? access_token;
  if (text) return bearer(text);
  if (client_id && client_secret) return clientCredentials(endpoint, { client_id, client_secret });
  const hints = { ...(tenant ? { tenant } : {}), ...(client_id ? { client_id } : {}) };
  return subject_token ? workloadIdentity(endpoint, { subject_token: () => subject_token, ...hints }) : undefined;
}

/** A token is replaced this long before it ends, so that none ends on the way. */
export const RENEW_BEFORE_MS = 60_000;
