import * as oauth from 'oauth4webapi';
import { Sensitive } from '#server/crypto/sensitive.ts';
import { UpstreamFault } from '../http-out/faults.ts';
import type { GuardedRequest, OutboundHttp } from './http.ts';

type Secret = Sensitive<string>;

export type TokenRequest = {
  tenant: string;
  space: string;
  /** Names the credential with its version within the space: calls that name the same one share a token. */
  credential: string;
  /** An https URL; http where the operator allows it. */
  token_endpoint: string;
  client_id: string;
  /** Absent for a public client. */
  client_secret?: Secret | undefined;
  /** How the client authenticates (RFC 6749 §2.3.1); `basic` by default. */
  client_auth?: 'basic' | 'post' | undefined;
  /** Absent for client credentials (RFC 6749 §4.4). */
  refresh_token?: Secret | undefined;
  /** Stores a refresh token that replaces the old one, before anybody gets the access token: the old one no longer works. */
  refreshTokenRotated?: ((token: Secret) => Promise<void>) | undefined;
  /** `scope`, `audience`, `resource` and whatever else the server wants. */
  parameters?: Readonly<Record<string, string>> | undefined;
};

export type AccessToken = {
  access_token: Secret;
  /** Lower case: `bearer` or `dpop`. */
  token_type: string;
  /** Null if the server doesn't say: such a token is asked for again each time. */
  expires_at: Date | null;
  scope: string | null;
};

/** Why no token came. Neither the message nor anything else of it holds text of the server, which may repeat a secret. */
export class TokenFault extends Error {
  readonly kind: 'unreachable' | 'blocked' | 'rejected' | 'invalid_response';
  /** The error code of the server (RFC 6749 §5.2) when it is `rejected`. */
  readonly code: string | undefined;
  constructor(kind: TokenFault['kind'], message: string, code?: string) {
    super(message);
    this.name = 'TokenFault';
    this.kind = kind;
    this.code = code;
  }
}

export type TokenClient = {
  /** A token with some life left: the stored one, or a new one. @throws TokenFault */
  token(request: TokenRequest): Promise<AccessToken>;
  /** Forgets a token that a resource server refused. */
  forget(credential: Pick<TokenRequest, 'tenant' | 'space' | 'credential'>): void;
};

/** A token counts as expired this long before it is, or after nine tenths of a short life: it must outlast the call it is for. */
const SKEW_MS = 60_000;
const MOST_TOKENS = 10_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** Gets and keeps access tokens in memory. Calls for one credential that come together make one request. */
export function createTokenClient(http: OutboundHttp, now: () => number = Date.now): TokenClient {
  const kept = new Map<string, { token: AccessToken; until: number }>();
  const open = new Map<string, Promise<AccessToken>>();

  const fetchToken = async (key: string, request: TokenRequest): Promise<AccessToken> => {
    const began = now();
    const { token, lifeMs } = await grant(http, request, began);
    kept.delete(key);
    if (lifeMs !== null) {
      if (kept.size >= MOST_TOKENS) kept.delete(kept.keys().next().value as string);
      kept.set(key, { token, until: began + lifeMs - Math.min(SKEW_MS, lifeMs / 10) });
    }
    return token;
  };

  return {
    token(request) {
      const key = keyOf(request);
      const hit = kept.get(key);
      if (hit && hit.until > now()) return Promise.resolve(hit.token);
      const running = open.get(key);
      if (running) return running;
      const fetched = fetchToken(key, request).finally(() => open.delete(key));
      open.set(key, fetched);
      return fetched;
    },
    forget: (credential) => void kept.delete(keyOf(credential)),
  };
}

const keyOf = ({ tenant, space, credential }: Pick<TokenRequest, 'tenant' | 'space' | 'credential'>) =>
  JSON.stringify([tenant, space, credential]);

async function grant(http: OutboundHttp, request: TokenRequest, began: number): Promise<{ token: AccessToken; lifeMs: number | null }> {
  const server: oauth.AuthorizationServer = { issuer: request.token_endpoint, token_endpoint: request.token_endpoint };
  const client: oauth.Client = { client_id: request.client_id };
  // Whether http is permitted is the guard's decision.
  const options = { [oauth.customFetch]: fetchOver(http, request), [oauth.allowInsecureRequests]: true };
  const parameters = { ...request.parameters };
  try {
    const refresh = request.refresh_token?.reveal();
    const answer =
      refresh === undefined
        ? await oauth.processClientCredentialsResponse(
            server,
            client,
            await oauth.clientCredentialsGrantRequest(server, client, clientAuth(request), parameters, options),
          )
        : await oauth.processRefreshTokenResponse(
            server,
            client,
            await oauth.refreshTokenGrantRequest(server, client, clientAuth(request), refresh, {
              ...options,
              additionalParameters: parameters,
            }),
          );
    if (answer.refresh_token !== undefined && answer.refresh_token !== refresh)
      await request.refreshTokenRotated?.(new Sensitive(answer.refresh_token));
    const lifeMs = answer.expires_in === undefined ? null : answer.expires_in * 1_000;
    const expires_at = lifeMs === null ? null : new Date(began + lifeMs);
    const { token_type, scope = null } = answer;
    return { token: { access_token: new Sensitive(answer.access_token), token_type, expires_at, scope }, lifeMs };
  } catch (error) {
    throw faultOf(error, new URL(request.token_endpoint).hostname);
  }
}

function clientAuth({ client_secret, client_auth }: TokenRequest): oauth.ClientAuth {
  if (!client_secret) return oauth.None();
  return client_auth === 'post' ? oauth.ClientSecretPost(client_secret.reveal()) : oauth.ClientSecretBasic(client_secret.reveal());
}

/** `fetch` over the guarded transport. */
const fetchOver =
  (http: OutboundHttp, { tenant, space }: TokenRequest) =>
  async (url: string, init: oauth.CustomFetchOptions<'POST', URLSearchParams>): Promise<Response> => {
    const request: GuardedRequest = {
      url,
      method: 'POST',
      headers: init.headers,
      body: init.body.toString(),
      ...{ tenant, space, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
    };
    const { status, headers, body } = await http.request(request);
    const list = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]));
    return new Response(NO_BODY.has(status) ? null : new Uint8Array(body), { status, headers: list });
  };
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** An error code has these characters (RFC 6749 §5.2); the standard ones are all of this narrower kind, and none could carry a secret for long. */
const CODE = /^[a-z_]{1,40}$/;

function faultOf(error: unknown, host: string): unknown {
  if (error instanceof UpstreamFault)
    return error.type === 'upstream_not_allowed'
      ? new TokenFault('blocked', `The token endpoint on ${host} can't be called from here.`)
      : unreachable(host);
  if (error instanceof oauth.ResponseBodyError) return rejected(host, CODE.test(error.error) ? error.error : 'unknown_error');
  if (error instanceof oauth.WWWAuthenticateChallengeError) return rejected(host, 'invalid_client');
  if (error instanceof oauth.OperationProcessingError && error.cause instanceof Response && error.cause.status >= 500)
    return unreachable(host);
  if (error instanceof oauth.OperationProcessingError || error instanceof RangeError)
    return new TokenFault('invalid_response', `The token endpoint on ${host} answered with something that isn't a token response.`);
  return error;
}

/** Worth another try later: no answer, or one that says the server is in trouble. */
const unreachable = (host: string) => new TokenFault('unreachable', `The token endpoint on ${host} didn't answer.`);
const rejected = (host: string, code: string) =>
  new TokenFault('rejected', `The token endpoint on ${host} refused the request: ${code}.`, code);
