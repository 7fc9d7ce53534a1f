import type { Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { documentIn } from '#server/platform/connect/json-document.ts';
import { TokenFault } from '#server/platform/connect/oauth2.ts';
import type { TlsMaterial } from '#server/platform/http-out/connector.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { TokenSet } from './token-set.ts';

/** Keeps connections of different workspaces apart. */
export type Asker = { tenant: string; space: string };

/** What is exchanged for tokens (RFC 6749 §4.1.3, §4.3, §4.4, §6). */
export type Grant =
  | { type: 'authorization_code'; code: string; verifier: string; redirect_uri: string }
  | { type: 'refresh_token'; refresh_token: string }
  | { type: 'client_credentials' }
  | { type: 'password'; username: string; password: string };

export type GrantedTokens = {
  access_token: string;
  refresh_token: string | undefined;
  token_type: string;
  /** Seconds; null if the provider doesn't say. */
  expires_in: number | null;
  scope: string | undefined;
};

/** The client's certificate (RFC 8705), and the name under which connections that present it are kept. */
export type ClientTls = { tls: TlsMaterial; identity: string };

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const http = processState('connection-http', (): { open?: OutboundHttp | undefined } => ({}));

/**
 * One call of a provider's token endpoint: guarded address, no redirects, 10 s, 64 KiB. Providers that answer forms are understood, and those that answer
 * errors with status 200. @throws TokenFault, none of whose text is the provider's
 */
export async function requestTokens(
  asker: Asker,
  config: Oauth2Config,
  { client_secret }: Pick<TokenSet, 'client_secret'>,
  grant: Grant,
  client?: ClientTls,
): Promise<GrantedTokens> {
  const url = config.token_url ?? '';
  const host = URL.parse(url)?.hostname ?? 'the provider';
  const { type, ...members } = grant;
  const { verifier, ...sent } = { verifier: undefined, ...members };
  const form = new URLSearchParams({ ...config.extra_token_params, grant_type: type, ...sent });
  if (verifier !== undefined) form.set('code_verifier', verifier);
  // RFC 6749 §4.1.3: a code was given for its scopes already, and a refresh keeps those of its token.
  if ((type === 'client_credentials' || type === 'password') && config.scopes.length > 0) form.set('scope', config.scopes.join(' '));
  const headers: Record<string, string> = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };
  if (client_secret !== undefined && config.token_endpoint_auth_method === 'client_secret_basic')
    headers.authorization = `Basic ${Buffer.from(`${formEncoded(config.client_id)}:${formEncoded(client_secret)}`).toString('base64')}`;
  else {
    form.set('client_id', config.client_id);
    if (client_secret !== undefined && config.token_endpoint_auth_method === 'client_secret_post') form.set('client_secret', client_secret);
  }
  http.open ??= openHttp({ connections: 4, connectTimeoutMs: 5_000 });
  const answer = await http.open
    .request({ url, method: 'POST', headers, body: form.toString(), ...asker, ...client, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
    .catch((error: unknown) => {
      throw faultOf(error, host);
    });
  return read(answer.status, answer.body, host);
}

/** RFC 6749 §2.3.1: each part is form-encoded before the two are joined. */
const formEncoded = (text: string) => new URLSearchParams({ v: text }).toString().slice(2);

function faultOf(error: unknown, host: string): unknown {
  if (!(error instanceof UpstreamFault)) return error;
  if (error.type === 'upstream_not_allowed') return new TokenFault('blocked', `The token endpoint on ${host} can't be called from here.`);
  if (error.type === 'upstream_response_too_large') return invalid(host);
  return new TokenFault('unreachable', `The token endpoint on ${host} didn't answer.`);
}

const invalid = (host: string) =>
  new TokenFault('invalid_response', `The token endpoint on ${host} answered with something that isn't a token response.`);
const rejected = (host: string, code: string) =>
  new TokenFault('rejected', `The token endpoint on ${host} refused the request: ${code}.`, code);

/** The standard codes have these characters, and none could carry a secret for long. */
const CODE = /^[a-z_]{1,40}$/;
/** A token that a header can carry. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

function read(status: number, body: Buffer, host: string): GrantedTokens {
  const answer = parsed(body);
  const error = typeof answer?.error === 'string' && answer.error !== '' ? answer.error : answer?.ok === false ? '' : undefined;
  if (status >= 500 || status === 429) throw new TokenFault('unreachable', `The token endpoint on ${host} didn't answer.`);
  if (error !== undefined) throw rejected(host, CODE.test(error) ? error : 'unknown_error');
  if (status === 401) throw rejected(host, 'invalid_client');
  if (status >= 400) throw rejected(host, 'unknown_error');
  if (status < 200 || status >= 300 || !answer) throw invalid(host);
  const { access_token, refresh_token, token_type, expires_in, scope } = answer;
  if (typeof access_token !== 'string' || !TOKEN.test(access_token)) throw invalid(host);
  const seconds = typeof expires_in === 'string' && /^\d{1,10}$/.test(expires_in) ? Number(expires_in) : expires_in;
  return {
    access_token,
    refresh_token: typeof refresh_token === 'string' && TOKEN.test(refresh_token) ? refresh_token : undefined,
    token_type: typeof token_type === 'string' && /^[\w-]{1,40}$/.test(token_type) ? token_type : 'Bearer',
    expires_in: typeof seconds === 'number' && seconds >= 0 && seconds < 10_000_000_000 ? Math.floor(seconds) : null,
    scope: typeof scope === 'string' ? scope.slice(0, 4_000) : undefined,
  };
}

/** JSON, or the form that some providers answer whatever was asked for. */
function parsed(body: Buffer): Record<string, unknown> | undefined {
  const document = documentIn(body);
  if (document) return document;
  const text = body.toString('utf8').trim();
  const isForm = !'{["'.includes(text.charAt(0)) && /^[\x21-\x3c\x3e-\x7e]+=[\x21-\x7e]*$/.test(text);
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : undefined;
}
