import * as oauth from 'oauth4webapi';
import { Sensitive } from '#server/crypto/sensitive.ts';
import { UpstreamFault } from '../http-out/faults.ts';
import type { OutboundHttp } from './http.ts';
import { documentIn } from './json-document.ts';

// OAuth towards the authorization server of an MCP server (MCP authorization, revision 2025-11-25): discovery by RFC 9728 and RFC 8414, registration by RFC 7591,
// authorization code with PKCE and a resource indicator. oauth4webapi speaks the protocol; every request goes out through the guarded transport.

/** Why a consent can't begin or end. The message is ours: what a server says may hold anything. */
export class ConnectFault extends Error {
  override readonly name = 'ConnectFault';
  readonly reason: 'unreachable' | 'blocked' | 'unsupported' | 'misconfigured' | 'denied' | 'rejected' | 'mismatch';
  constructor(reason: ConnectFault['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Keeps connections of different workspaces apart. */
export type Place = { tenant: string; space: string };

/** What discovery found. The answer of the browser is judged by this and by nothing that arrives later. */
export type ConsentPlan = {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint: string | null;
  revocation_endpoint: string | null;
  /** RFC 9207: the answer must name the issuer. */
  iss_required: boolean;
  /** It takes the address of a document in place of a registration. */
  takes_documents: boolean;
  auth_methods: string[];
  resource: string;
  scopes_supported: string[];
};

export type PlanClient = {
  client_id: string;
  client_auth: 'none' | 'client_secret_basic' | 'client_secret_post';
  client_secret: Sensitive<string> | null;
};
export type ConsentTokens = {
  access_token: Sensitive<string>;
  refresh_token: Sensitive<string> | null;
  expires_at: Date | null;
  scopes: string[];
};

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;

/** Finds the authorization server of an upstream. @throws ConnectFault */
export async function discover(
  http: OutboundHttp,
  place: Place,
  { url, server }: { url: string; server?: string | undefined },
): Promise<ConsentPlan> {
  const { resource, servers, scopes } = await protectedResource(http, place, url);
  if (server !== undefined && servers.length > 0 && !servers.includes(server))
    throw new ConnectFault(
      'mismatch',
      'The MCP server does not name the configured authorization server. Correct or remove it in the settings.',
    );
  const issuer = server ?? servers[0] ?? new URL(url).origin;
  const metadata = await serverMetadata(http, place, issuer);
  const text = (value: unknown): string | null =>
    typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '') ? value : null;
  const authorization_endpoint = text(metadata.authorization_endpoint);
  const token_endpoint = text(metadata.token_endpoint);
  if (!authorization_endpoint || !token_endpoint)
    throw new ConnectFault('unsupported', `The authorization server ${hostOf(issuer)} has no endpoints for a sign-in.`);
  if (!list(metadata.code_challenge_methods_supported).includes('S256'))
    throw new ConnectFault('unsupported', `The authorization server ${hostOf(issuer)} doesn't support PKCE, which MCP requires.`);
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    registration_endpoint: text(metadata.registration_endpoint),
    revocation_endpoint: text(metadata.revocation_endpoint),
    iss_required: metadata.authorization_response_iss_parameter_supported === true,
    takes_documents: metadata.client_id_metadata_document_supported === true,
    auth_methods: list(metadata.token_endpoint_auth_methods_supported),
    resource,
    scopes_supported: scopes,
  };
}

type Resource = { resource: string; servers: string[]; scopes: string[] };

/** The metadata that the upstream's challenge points to, or that stands at its well-known place. An upstream without any is its own resource. */
async function protectedResource(http: OutboundHttp, place: Place, url: string): Promise<Resource> {
  const { origin, pathname } = new URL(url);
  const path = pathname === '/' ? '' : pathname.replace(/\/$/, '');
  const challenged = await challenge(http, place, url);
  const places = [
    ...(challenged ? [challenged] : []),
    ...(path ? [`${origin}/.well-known/oauth-protected-resource${path}`] : []),
    `${origin}/.well-known/oauth-protected-resource`,
  ];
  for (const at of places) {
    const document = await json(http, place, at);
    if (!document) continue;
    const resource = typeof document.resource === 'string' ? document.resource : '';
    const named = URL.parse(resource);
    // RFC 9728 §3.3: a document of another resource could hand the person's consent to somebody else.
    if (named?.origin !== origin || !`${pathname}/`.startsWith(`${named.pathname.replace(/\/$/, '')}/`))
      throw new ConnectFault('mismatch', "The MCP server's metadata is about another resource. Check its address.");
    return { resource, servers: list(document.authorization_servers), scopes: list(document.scopes_supported) };
  }
  return { resource: url, servers: [], scopes: [] };
}

/** Where the upstream's 401 says that its metadata is; only on its own origin. */
async function challenge(http: OutboundHttp, place: Place, url: string): Promise<string | null> {
  const answer = await request(http, place, {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  }).catch((error: unknown) => {
    if (error instanceof ConnectFault && error.reason === 'unreachable') return null;
    throw error;
  });
  if (answer?.status !== 401) return null;
  const header = [answer.headers['www-authenticate'] ?? []].flat().join(', ');
  const at = /resource_metadata="([^"\s]{1,2000})"/.exec(header)?.[1];
  return at !== undefined && URL.parse(at)?.origin === new URL(url).origin ? at : null;
}

/** RFC 8414 §3, with the places that OpenID Connect has for the same document. The issuer must be exactly the one that was looked for. */
async function serverMetadata(http: OutboundHttp, place: Place, issuer: string): Promise<Record<string, unknown>> {
  const parsed = URL.parse(issuer);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.hash !== '')
    throw new ConnectFault('misconfigured', "The authorization server's issuer is not a URL.");
  const path = parsed.pathname === '/' ? '' : parsed.pathname.replace(/\/$/, '');
  const places = [
    `${parsed.origin}/.well-known/oauth-authorization-server${path}`,
    `${parsed.origin}/.well-known/openid-configuration${path}`,
    ...(path ? [`${parsed.origin}${path}/.well-known/openid-configuration`] : []),
  ];
  for (const at of places) {
    const document = await json(http, place, at);
    if (!document) continue;
    if (document.issuer !== issuer && document.issuer !== issuer.replace(/\/$/, ''))
      throw new ConnectFault('mismatch', `The metadata of ${parsed.host} names another issuer.`);
    return document;
  }
  throw new ConnectFault(
    'unsupported',
    `${parsed.host} has no authorization server metadata. Enter the authorization server in the settings.`,
  );
}

/** RFC 7591. A server that gives out a secret is authenticated with it. @throws ConnectFault */
export async function register(
  http: OutboundHttp,
  place: Place,
  plan: ConsentPlan,
  metadata: Record<string, unknown>,
): Promise<PlanClient> {
  const answer = await request(http, place, {
    url: plan.registration_endpoint as string,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(metadata),
  });
  const document = answer.status === 201 || answer.status === 200 ? documentIn(answer.body) : undefined;
  const { client_id, client_secret, token_endpoint_auth_method } = document ?? {};
  if (typeof client_id !== 'string' || client_id === '' || client_id.length > 512)
    throw new ConnectFault(
      'rejected',
      `The authorization server ${hostOf(plan.issuer)} refused to register this service. Enter a client ID in the settings.`,
    );
  if (typeof client_secret !== 'string' || client_secret === '') return { client_id, client_auth: 'none', client_secret: null };
  const client_auth = token_endpoint_auth_method === 'client_secret_post' ? 'client_secret_post' : 'client_secret_basic';
  return { client_id, client_auth, client_secret: new Sensitive(client_secret) };
}

/** Where the browser goes. */
export function consentUrl(
  plan: ConsentPlan,
  ask: { client_id: string; redirect_uri: string; state: string; challenge: string; scopes: readonly string[] },
): string {
  const url = new URL(plan.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: ask.client_id,
    redirect_uri: ask.redirect_uri,
    state: ask.state,
    code_challenge: ask.challenge,
    code_challenge_method: 'S256',
    resource: plan.resource,
    ...(ask.scopes.length > 0 ? { scope: ask.scopes.join(' ') } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/**
 * Exchanges the code. State and issuer of the answer (RFC 9207) are judged before the code is sent anywhere. @throws ConnectFault
 */
export async function exchange(
  http: OutboundHttp,
  place: Place,
  plan: ConsentPlan,
  client: PlanClient,
  answer: { parameters: URLSearchParams; state: string; verifier: string; redirect_uri: string; now: Date },
): Promise<ConsentTokens> {
  const server: oauth.AuthorizationServer = {
    issuer: plan.issuer,
    token_endpoint: plan.token_endpoint,
    authorization_response_iss_parameter_supported: plan.iss_required,
  };
  const known: oauth.Client = { client_id: client.client_id };
  try {
    const judged = oauth.validateAuthResponse(server, known, answer.parameters, answer.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      known,
      authenticationOf(client),
      judged,
      answer.redirect_uri,
      answer.verifier,
      {
        [oauth.customFetch]: fetchOver(http, place),
        // Whether http is permitted is the guard's decision.
        [oauth.allowInsecureRequests]: true,
        additionalParameters: { resource: plan.resource },
      },
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, known, response);
    if (tokens.token_type.toLowerCase() !== 'bearer')
      throw new ConnectFault('unsupported', 'The authorization server issued a token of a kind that is not supported.');
    return {
      access_token: new Sensitive(tokens.access_token),
      refresh_token: tokens.refresh_token === undefined ? null : new Sensitive(tokens.refresh_token),
      expires_at: tokens.expires_in === undefined ? null : new Date(answer.now.getTime() + tokens.expires_in * 1_000),
      scopes: (tokens.scope ?? '').split(' ').filter((scope) => scope !== ''),
    };
  } catch (error) {
    throw faultOf(error, plan);
  }
}

const authenticationOf = ({ client_auth, client_secret }: PlanClient): oauth.ClientAuth => {
  if (client_secret === null) return oauth.None();
  return client_auth === 'client_secret_post'
    ? oauth.ClientSecretPost(client_secret.reveal())
    : oauth.ClientSecretBasic(client_secret.reveal());
};

const fetchOver =
  (http: OutboundHttp, place: Place) =>
  async (url: string, init: oauth.CustomFetchOptions<'POST', URLSearchParams>): Promise<Response> => {
    const { status, headers, body } = await request(http, place, {
      url,
      method: 'POST',
      headers: init.headers,
      body: init.body.toString(),
    });
    const entries = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]));
    return new Response([204, 205, 304].includes(status) ? null : new Uint8Array(body), { status, headers: entries });
  };

type Asked = { url: string; method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: string };

async function request(http: OutboundHttp, { tenant, space }: Place, asked: Asked) {
  try {
    return await http.request({ ...asked, tenant, space, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, overflow: 'truncate' });
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    const host = hostOf(asked.url);
    throw error.type === 'upstream_not_allowed'
      ? new ConnectFault('blocked', `${host} can't be called from here: its address isn't public.`)
      : new ConnectFault('unreachable', `${host} didn't answer. Try again in a minute.`);
  }
}

/** The document at an address; null when there is none. */
async function json(http: OutboundHttp, place: Place, url: string): Promise<Record<string, unknown> | null> {
  const { status, body } = await request(http, place, { url, headers: { accept: 'application/json' } });
  return (status === 200 && documentIn(body)) || null;
}

const list = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string').slice(0, 100) : []);
const hostOf = (url: string) => URL.parse(url)?.host ?? 'the authorization server';
const CODE = /^[a-z_]{1,40}$/;
const codeOf = (text: unknown) => (typeof text === 'string' && CODE.test(text) ? text : 'unknown_error');

function faultOf(error: unknown, { issuer }: ConsentPlan): unknown {
  for (let e = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if (e instanceof ConnectFault) return e;
    if (e instanceof oauth.AuthorizationResponseError)
      return new ConnectFault('denied', `${hostOf(issuer)} refused the access: ${codeOf(e.error)}.`);
    if (e instanceof oauth.ResponseBodyError)
      return new ConnectFault('rejected', `${hostOf(issuer)} refused the exchange: ${codeOf(e.error)}.`);
    if (e instanceof oauth.WWWAuthenticateChallengeError)
      return new ConnectFault('rejected', `${hostOf(issuer)} refused the client. Check client ID and secret.`);
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError || error instanceof TypeError)
    return new ConnectFault('mismatch', 'The answer is not valid for this connection. Start again.');
  return error;
}
