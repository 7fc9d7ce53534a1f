import * as client from 'openid-client';
import { type IdTokenClaims, IdTokenRefused, verifyIdToken } from '#server/crypto/id-token.ts';
import type { Sensitive } from '#server/crypto/sensitive.ts';
import { processState } from '#server/kernel/process-state.ts';
import { UpstreamFault } from '../http-out/faults.ts';
import type { OutboundHttp } from './http.ts';
import { documentIn } from './json-document.ts';
import { isKeyList, MOST_KEYS } from './key-list.ts';

// OpenID Connect as a relying party: authorization code with PKCE and a nonce. openid-client speaks the protocol; every request goes out through the
// guarded transport, and the identity token is verified by its signature as well, not by the connection that it came over alone.

export type OidcProvider = {
  /** Keeps connections and cached documents of different workspaces apart. */
  tenant: string;
  issuer: string;
  client_id: string;
  client_secret: Sensitive<string> | null;
  token_auth: 'basic' | 'post';
};

/** Why a sign-in failed. The message is ours: what a provider says may hold anything. */
export class OidcFault extends Error {
  readonly reason: 'provider_unreachable' | 'provider_blocked' | 'provider_error' | 'misconfigured' | 'token_invalid' | 'expired';
  constructor(reason: OidcFault['reason'], message: string) {
    super(message);
    this.name = 'OidcFault';
    this.reason = reason;
  }
}

export type OidcIdentity = {
  issuer: string;
  subject: string;
  email: string | null;
  email_verified: boolean;
  name: string | null;
  /** Authentication methods that the provider asserts (RFC 8176). */
  methods: string[];
};

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;
const FRESH_MS = 10 * 60_000;
const STALE_MS = 24 * 3_600_000;
const REFETCH_MS = 30_000;
const MOST_ISSUERS = 1_000;

type Documents = { metadata: client.ServerMetadata; keys: Keys; fetched: number; refetched: number };
type Keys = Parameters<typeof verifyIdToken>[1];
const cached = processState('oidc-issuers', () => new Map<string, Documents>());

/** Where the browser goes. @throws OidcFault */
export async function authorizationUrl(
  http: OutboundHttp,
  provider: OidcProvider,
  ask: { redirect_uri: string; state: string; nonce: string; challenge: string; login_hint?: string | undefined; now: Date },
): Promise<string> {
  const { metadata } = await documentsOf(http, provider, ask.now);
  const url = client.buildAuthorizationUrl(configuration(http, provider, metadata), {
    redirect_uri: ask.redirect_uri,
    response_type: 'code',
    scope: 'openid email profile',
    state: ask.state,
    nonce: ask.nonce,
    code_challenge: ask.challenge,
    code_challenge_method: 'S256',
    ...(ask.login_hint === undefined ? {} : { login_hint: ask.login_hint }),
  });
  return url.href;
}

/** Exchanges the code of an answer and verifies who it is for. `answer` is the full address that the browser came back to. @throws OidcFault */
export async function identityFrom(
  http: OutboundHttp,
  provider: OidcProvider,
  answer: { url: URL; state: string; nonce: string; verifier: string; now: Date },
): Promise<OidcIdentity> {
  const { metadata } = await documentsOf(http, provider, answer.now);
  const config = configuration(http, provider, metadata);
  try {
    // Checks state, the issuer of the answer (RFC 9207), nonce and audience, and sends the code only to this issuer's token endpoint.
    const tokens = await client.authorizationCodeGrant(config, answer.url, {
      pkceCodeVerifier: answer.verifier,
      expectedState: answer.state,
      expectedNonce: answer.nonce,
      idTokenExpected: true,
    });
    const claims = await verified(http, provider, tokens.id_token ?? '', answer);
    if (typeof claims.email === 'string' || !metadata.userinfo_endpoint) return identityOf(claims, claims);
    // Claims of a scope may be given by the UserInfo endpoint alone (OpenID Connect Core §5.4).
    return identityOf(claims, await client.fetchUserInfo(config, tokens.access_token, claims.sub));
  } catch (error) {
    throw faultOf(error, provider);
  }
}

function identityOf(token: IdTokenClaims, profile: Record<string, unknown>): OidcIdentity {
  const text = (value: unknown) => (typeof value === 'string' && value.length <= 254 && value !== '' ? value : null);
  return {
    issuer: token.iss,
    subject: token.sub,
    email: text(profile.email),
    // Some providers send the text "true".
    email_verified: profile.email_verified === true || profile.email_verified === 'true',
    name: text(profile.name),
    methods: Array.isArray(token.amr) ? token.amr.filter((one) => typeof one === 'string').slice(0, 20) : [],
  };
}

/** Keys change: one that the cached set lacks is looked for once more, at most twice a minute. */
async function verified(
  http: OutboundHttp,
  provider: OidcProvider,
  token: string,
  { nonce, now }: { nonce: string; now: Date },
): Promise<IdTokenClaims> {
  const expected = { issuer: provider.issuer, audience: provider.client_id, nonce, now };
  const { keys } = await documentsOf(http, provider, now);
  try {
    return await verifyIdToken(token, keys, expected);
  } catch (error) {
    if (!(error instanceof IdTokenRefused) || error.reason !== 'unknown_key') throw error;
    return verifyIdToken(token, (await documentsOf(http, provider, now, { newer: true })).keys, expected);
  }
}

/** Discovery document and keys of the issuer: ten minutes old at most, or a day while the provider is down. @throws OidcFault */
async function documentsOf(http: OutboundHttp, provider: OidcProvider, now: Date, { newer = false } = {}): Promise<Documents> {
  const name = `${provider.tenant} ${provider.issuer}`;
  const known = cached.get(name);
  const age = known ? now.getTime() - known.fetched : Number.POSITIVE_INFINITY;
  if (known && (newer ? now.getTime() - known.refetched < REFETCH_MS : age < FRESH_MS)) return known;
  if (known && newer) known.refetched = now.getTime();
  try {
    const fresh = { ...(await fetchDocuments(http, provider, now)), refetched: known?.refetched ?? 0 };
    if (cached.size >= MOST_ISSUERS) cached.delete(cached.keys().next().value as string);
    cached.set(name, fresh);
    return fresh;
  } catch (error) {
    const fault = faultOf(error, provider);
    if (known && age < STALE_MS && fault instanceof OidcFault && fault.reason === 'provider_unreachable') return known;
    throw fault;
  }
}

async function fetchDocuments(http: OutboundHttp, provider: OidcProvider, now: Date): Promise<Omit<Documents, 'refetched'>> {
  const host = hostOf(provider);
  const metadata = (await json(
    http,
    provider,
    `${provider.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
  )) as unknown as client.ServerMetadata;
  if (metadata.issuer !== provider.issuer)
    throw new OidcFault(
      'misconfigured',
      `The discovery document of ${host} names another issuer. Copy the issuer exactly as your provider shows it.`,
    );
  for (const endpoint of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
    if (typeof metadata[endpoint] !== 'string' || !/^https?:$/.test(URL.parse(metadata[endpoint])?.protocol ?? ''))
      throw new OidcFault('misconfigured', `The discovery document of ${host} has no usable ${endpoint}.`);
  const keys = (await json(http, provider, String(metadata.jwks_uri))) as unknown as Keys;
  if (!isKeyList(keys.keys))
    throw new OidcFault(
      'misconfigured',
      `The key set of ${host} must be a list of at most ${MOST_KEYS} keys. Remove those no longer in use.`,
    );
  return { metadata, keys, fetched: now.getTime() };
}

async function json(http: OutboundHttp, provider: OidcProvider, url: string): Promise<Record<string, unknown>> {
  const { status, body } = await http.request({ ...boundsOf(provider), url, headers: { accept: 'application/json' } });
  if (status >= 500 || status === 429) throw unreachable(provider);
  const document = status === 200 ? documentIn(body) : undefined;
  if (!document)
    throw new OidcFault('misconfigured', `${hostOf(provider)} has no OpenID Connect documents at this issuer. Check the issuer.`);
  return document;
}

function configuration(http: OutboundHttp, provider: OidcProvider, metadata: client.ServerMetadata): client.Configuration {
  const secret = provider.client_secret?.reveal();
  const auth =
    secret === undefined
      ? client.None()
      : provider.token_auth === 'post'
        ? client.ClientSecretPost(secret)
        : client.ClientSecretBasic(secret);
  const config = new client.Configuration(metadata, provider.client_id, { [client.clockTolerance]: 60 }, auth);
  // Whether http is permitted is the guard's decision.
  client.allowInsecureRequests(config);
  config[client.customFetch] = async (url, init) => {
    const { status, headers, body } = await http.request({
      ...boundsOf(provider),
      url,
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers: init.headers,
      ...(init.body === undefined || init.body === null ? {} : { body: String(init.body) }),
    });
    if (status >= 500 || status === 429) throw unreachable(provider);
    const list = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]));
    return new Response([204, 205, 304].includes(status) ? null : new Uint8Array(body), { status, headers: list });
  };
  return config;
}

const boundsOf = ({ tenant }: OidcProvider) => ({ tenant, space: 'live', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
const hostOf = ({ issuer }: OidcProvider) => URL.parse(issuer)?.host ?? issuer;
const unreachable = (provider: OidcProvider) =>
  new OidcFault('provider_unreachable', `The identity provider ${hostOf(provider)} didn't answer. Try again in a minute.`);

/** An error code of the protocol; the standard ones are all of this kind. */
const CODE = /^[a-z_]{1,40}$/;
const codeOf = (text: unknown) => (typeof text === 'string' && CODE.test(text) ? text : 'unknown_error');

/** The first in the chain of causes that says what happened. */
function faultOf(error: unknown, provider: OidcProvider): unknown {
  for (let e = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if (e instanceof OidcFault) return e;
    if (e instanceof IdTokenRefused) return new OidcFault(e.reason === 'expired' ? 'expired' : 'token_invalid', e.message);
    if (e instanceof UpstreamFault)
      return e.type === 'upstream_not_allowed'
        ? new OidcFault(
            'provider_blocked',
            `The identity provider ${hostOf(provider)} can't be called from here: its address isn't public.`,
          )
        : unreachable(provider);
    if (e instanceof client.AuthorizationResponseError)
      return new OidcFault('provider_error', `The identity provider refused the sign-in: ${codeOf(e.error)}.`);
    if (e instanceof client.ResponseBodyError)
      return new OidcFault(
        e.error === 'invalid_grant' ? 'token_invalid' : 'misconfigured',
        `The identity provider refused the exchange: ${codeOf(e.error)}.${e.error === 'invalid_client' ? ' Check client ID and secret.' : ''}`,
      );
  }
  if (error instanceof client.ClientError || error instanceof TypeError)
    return new OidcFault('token_invalid', "The identity provider's answer isn't valid for this sign-in. Start again.");
  return error;
}
