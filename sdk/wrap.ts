import { apiKey, type Credential, type Token } from './credential.ts';
import { Nonces } from './dpop.ts';
import { ConnectionError } from './error.ts';
import { assertSafe } from './exchange.ts';
import { isUpstreams } from './gateway.ts';
import { authorize } from './transport.ts';

/** As the platform has it, and as SDKs ask for it. */
type Fetch = typeof fetch;

export type WrapOptions = {
  /** `https://api.example.com/v1`. */
  base_url: string;
  /** An API key as text, or any other credential. */
  credential: string | Credential;
  /**
   * `secret` names a wrap credential: the key stays with the service. Without the member the SDK's own Authorization passes through (transit). An empty name is
   * an error, never transit.
   */
  secret?: string;
  environment?: string;
  /** Milliseconds from connecting to the answer's head, at most 30000. */
  timeout_ms?: number;
  /** Whether calls go to the Test space, for the check of Stripe-style keys. */
  sandbox?: boolean;
  /** Calls that go straight to their host. Endpoints that take raw card numbers always do: the service refuses them. */
  direct?: (url: URL) => boolean;
  fetch?: Fetch;
};

/** Of the application's headers, those that belong to the service, to the connection, or to the credential that is lifted. */
const STRIPPED = [
  'authorization',
  'dpop',
  'host',
  'content-length',
  'x-svc-key',
  'x-svc-agent-id',
  'x-svc-agent-token',
  'x-svc-client-origin',
];

/** Node's codes for a connection that was never made: nothing was sent, so nothing can happen twice. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * A `fetch` that sends every call through the service's proxy, for SDKs that take one (interface rule 33 §9). The SDK's request arrives at its provider as it
 * was, with the credential that the service holds, or the SDK's own.
 * @throws TypeError for options or keys that can't be meant
 */
export function wrapFetch(options: WrapOptions): Fetch {
  const { base_url, secret, environment, timeout_ms, sandbox, direct, fetch: fetchIt = fetch } = options;
  if ('secret' in options && (typeof secret !== 'string' || secret.trim() === ''))
    throw new TypeError('secret must be the name of a wrap credential. Leave it out to let the SDK’s own key pass through.');
  const credential = typeof options.credential === 'string' ? apiKey(options.credential) : options.credential;
  const proxy = `${base_url.replace(/\/$/, '')}/proxy`;
  assertSafe(proxy);
  const nonces = new Nonces();
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (isRawCardEndpoint(url) || direct?.(url)) return fetchIt(request);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const headers = forwarded(request.headers);
    headers.set('x-svc-proxy-url', url.href.replace(/#.*$/, ''));
    headers.set('x-svc-proxy-mode', 'transparent');
    if (environment) headers.set('x-svc-environment', environment);
    if (timeout_ms !== undefined) headers.set('x-svc-timeout-ms', String(timeout_ms));
    const theirs = request.headers.get('authorization');
    if (secret !== undefined) headers.set('x-svc-upstream-auth-secret', secret.trim());
    else if (theirs !== null) {
      assertKeyFits(theirs, sandbox);
      headers.set('x-svc-upstream-authorization', theirs);
    }
    const send = async (token: Token): Promise<Response> => {
      const sent = new Headers(headers);
      await authorize(sent, token, { method: request.method, url: proxy, nonce: nonces.of(proxy) });
      return connected(() =>
        fetchIt(proxy, {
          method: request.method,
          headers: sent,
          redirect: 'manual',
          signal: request.signal,
          ...(body === undefined ? {} : { body }),
        }),
      ).catch((cause: unknown) => {
        if (request.signal.aborted) throw cause;
        throw new ConnectionError(`${request.method} ${url.origin}`, 'The gateway can’t be reached', { cause });
      });
    };
    const token = await credential.token();
    const response = await send(token);
    // A 401 that carries the upstream's status is the provider's, and says nothing about our token.
    if (response.status !== 401 || isUpstreams(response)) {
      nonces.hear(proxy, response, '');
      return response;
    }
    if (nonces.hear(proxy, response, '') && token.key) return send(token);
    const next = await credential.token(token.text);
    return next.text === token.text ? response : send(next);
  };
}

/** The endpoints that the service refuses (interface rule 33 §4.4): card numbers go to the provider and to nobody else. */
export function isRawCardEndpoint({ hostname, pathname }: URL): boolean {
  if (hostname.toLowerCase().replace(/\.$/, '') !== 'api.stripe.com') return false;
  const path = pathname
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\/{2,}/g, '/');
  return /^\/v1\/(?:tokens|sources)/i.test(path);
}

function forwarded(given: Headers): Headers {
  const headers = new Headers(given);
  for (const name of STRIPPED) headers.delete(name);
  return headers;
}

/** Once more when no connection was made; whatever may have arrived is not sent twice. */
async function connected(send: () => Promise<Response>): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    const { code } = ((error as Error).cause ?? error) as { code?: string };
    if (code === undefined || !NOT_CONNECTED.has(code)) throw error;
    return send();
  }
}

function assertKeyFits(authorization: string, sandbox: boolean | undefined): void {
  const key = authorization.replace(/^\S+\s+/, '');
  if (key.startsWith('pk_')) throw new TypeError('A publishable key can’t be wrapped: it authenticates nobody.');
  if (sandbox === true && /^[sr]k_live_/.test(key)) throw new TypeError('A live key of the provider can’t be used in Test.');
  if (sandbox === false && /^[sr]k_test_/.test(key)) throw new TypeError('A test key of the provider can’t be used in Live.');
}

/** What SDKs call their provider's address: from the `base_url` of a gateway token. */
export const wrapped = {
  /** `new OpenAI({ ...wrapped.openai(url) })`: its paths come after `/v1`. */
  openai: (base_url: string) => ({ baseURL: `${trimmed(base_url)}/v1`, apiKey: PLACEHOLDER }),
  anthropic: (base_url: string) => ({ baseURL: trimmed(base_url), apiKey: PLACEHOLDER }),
  octokit: (base_url: string) => ({ baseUrl: trimmed(base_url) }),
  /** `new Stripe(key, config)`: Stripe's library takes host, port and protocol and no path, so its requests get the path by a fetch of their own. */
  stripe: (base_url: string, fetchIt: Fetch = fetch) => {
    const { origin, pathname } = new URL(trimmed(base_url));
    const { hostname, port, protocol } = new URL(origin);
    const prefix = pathname === '/' ? '' : pathname;
    return {
      host: hostname,
      ...(port === '' ? {} : { port }),
      protocol: protocol.slice(0, -1) as 'http' | 'https',
      fetch: (async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : String(input));
        url.pathname = `${prefix}${url.pathname}`;
        return fetchIt(input instanceof Request ? new Request(url, input) : url, init);
      }) as Fetch,
    };
  },
};

/** SDKs insist on a key; the gateway drops it. */
const PLACEHOLDER = 'wrapped';
const trimmed = (url: string): string => url.replace(/\/+$/, '');
