import { createHash, randomBytes } from 'node:crypto';
import { type DpopKey, Nonces } from './dpop.ts';
import { errorOf, type SallyportError } from './error.ts';
import { exchange, type Fetch, pause } from './exchange.ts';
import { delayAfter } from './retry.ts';

/** The OAuth endpoints of a host: those of the Management API, without `/v1`. */
export type TokenEndpoint = { origin: string; fetch?: Fetch; timeout_ms?: number };

export type Tokens = {
  access_token: string;
  token_type: 'Bearer' | 'DPoP';
  /** Seconds. */
  expires_in: number;
  /** What the token may do, separated by spaces; may be less than was asked for. */
  scope: string;
  refresh_token?: string;
  /** Slug of the workspace. */
  tenant: string;
  client_id: string;
};

const nonces = new Nonces();

/** @throws SallyportError with the error code of RFC 6749 as its type */
export function clientCredentialsGrant(
  endpoint: TokenEndpoint,
  client: { client_id: string; client_secret: string; scope?: string; key?: DpopKey },
): Promise<Tokens> {
  const basic = Buffer.from(`${encodeURIComponent(client.client_id)}:${encodeURIComponent(client.client_secret)}`).toString('base64');
  const form = { grant_type: 'client_credentials', scope: client.scope };
  return post<Tokens>(endpoint, '/oauth/token', form, { key: client.key, authorization: `Basic ${basic}` });
}

export function authorizationCodeGrant(
  endpoint: TokenEndpoint,
  code: { code: string; code_verifier: string; redirect_uri: string; client_id: string; key?: DpopKey },
): Promise<Tokens> {
  const { key, ...form } = code;
  return post<Tokens>(endpoint, '/oauth/token', { grant_type: 'authorization_code', ...form }, { key });
}

/** Uses the refresh token up. A second use ends the whole login, so whatever shares one must take turns. */
export function refreshGrant(endpoint: TokenEndpoint, grant: { refresh_token: string; client_id: string; key?: DpopKey }): Promise<Tokens> {
  const { key, ...form } = grant;
  return post<Tokens>(endpoint, '/oauth/token', { grant_type: 'refresh_token', ...form }, { key });
}

/** Trades a token of a CI or cloud platform for one of this service (RFC 8693). */
export function tokenExchangeGrant(
  endpoint: TokenEndpoint,
  grant: { subject_token: string; scope?: string; tenant?: string; client_id?: string; key?: DpopKey },
): Promise<Tokens> {
  const { key, ...form } = grant;
  const types = { grant_type: EXCHANGE_GRANT, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt', audience: 'service:api' };
  return post<Tokens>(endpoint, '/oauth/token', { ...types, ...form }, { key });
}
const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';

export type DeviceAuthorization = {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
};

export const authorizeDevice = (
  endpoint: TokenEndpoint,
  client: { client_id: string; scope?: string; acr_values?: string },
): Promise<DeviceAuthorization> => post<DeviceAuthorization>(endpoint, '/oauth/device_authorization', client, {});

/** Asks until a person has approved or denied the device, or its code has ended (RFC 8628 §3.5). */
export async function deviceGrant(
  endpoint: TokenEndpoint,
  device: DeviceAuthorization,
  client: { client_id: string; key?: DpopKey },
  signal?: AbortSignal,
): Promise<Tokens> {
  let seconds = device.interval;
  for (;;) {
    await pause(seconds * 1000, signal);
    try {
      const form = { grant_type: DEVICE_GRANT, device_code: device.device_code, client_id: client.client_id };
      return await post<Tokens>(endpoint, '/oauth/token', form, { key: client.key });
    } catch (error) {
      const { type } = error as SallyportError;
      if (type === 'slow_down') seconds += 5;
      else if (type !== 'authorization_pending') throw error;
    }
  }
}
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Ends a token; the refresh token ends everything that came from its login. */
export async function revoke(
  endpoint: TokenEndpoint,
  grant: { token: string; client_id: string; token_type_hint?: string },
): Promise<void> {
  await post(endpoint, '/oauth/revoke', grant, {});
}

/** A PKCE pair (RFC 7636). */
export function pkce(): { code_verifier: string; code_challenge: string } {
  const code_verifier = randomBytes(32).toString('base64url');
  return { code_verifier, code_challenge: createHash('sha256').update(code_verifier).digest('base64url') };
}

/**
 * Sends a form and reads the answer. Repeated only when the server says that it did nothing, never after a broken connection: a refresh token or
 * a code may have been used up by then.
 */
async function post<T>(
  endpoint: TokenEndpoint,
  path: string,
  form: Readonly<Record<string, string | undefined>>,
  { key, authorization }: { key?: DpopKey | undefined; authorization?: string },
): Promise<T> {
  const url = `${endpoint.origin}${path}`;
  const body = new URLSearchParams(
    Object.entries(form).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ).toString();
  for (let attempt = 0, repeated = false; ; ) {
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' });
    if (authorization) headers.set('authorization', authorization);
    if (key) headers.set('dpop', await key.proof({ method: 'POST', url, nonce: nonces.of(url) }));
    const sent = { method: 'POST', url, headers, body };
    const { response, text } = await exchange(endpoint.fetch ?? fetch, sent, endpoint.timeout_ms ?? 30_000);
    if (response.ok) return JSON.parse(text) as T;
    const wantsNonce = nonces.hear(url, response, text);
    if (wantsNonce && key && !repeated) {
      repeated = true;
      continue;
    }
    const delay = response.status === 429 || response.status === 503 ? delayAfter(response, attempt) : undefined;
    if (delay === undefined || ++attempt > 2) throw errorOf(response, text);
    await pause(delay);
  }
}
