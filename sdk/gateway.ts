import type { Credential, Token } from './credential.ts';
import { Nonces } from './dpop.ts';
import { ConnectionError } from './error.ts';
import { assertSafe, type Fetch } from './exchange.ts';
import { authorize, sendable, USER_AGENT } from './transport.ts';

export type GatewayCall = {
  method?: string;
  headers?: HeadersInit;
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** Environment that answers; absent, the one that the route has as its base. */
  environment?: string | undefined;
  signal?: AbortSignal | undefined;
};

export type GatewayOptions = { proxy_url: string; credential: Credential; fetch?: Fetch; user_agent?: string };

/**
 * Calls routes of a workspace. The answer is the upstream's, streamed and whatever its status: nothing is retried but a call that the gateway refused
 * for its token or the lack of a nonce, which never reached the upstream.
 */
export function createGateway({ proxy_url, credential, fetch: fetchIt = fetch, user_agent = USER_AGENT }: GatewayOptions) {
  const nonces = new Nonces();
  return async (route: string, path: string, call: GatewayCall = {}): Promise<Response> => {
    const url = routeUrl(proxy_url, route, path);
    assertSafe(url);
    const method = call.method ?? 'GET';
    const send = async (token: Token) => {
      const headers = new Headers(call.headers);
      if (!headers.has('user-agent')) headers.set('user-agent', user_agent);
      if (call.environment) headers.set('x-svc-environment', call.environment);
      if (token.key) {
        if (headers.has('authorization'))
          throw new TypeError('A login sends Authorization itself. Let the route inject the upstream’s, or use an API key.');
        await authorize(headers, token, { method, url, nonce: nonces.of(url) });
      } else headers.set('x-svc-key', sendable(token.text));
      const init: RequestInit = { method, headers, redirect: 'manual' };
      if (call.body !== undefined) init.body = call.body;
      if (call.signal) init.signal = call.signal;
      return fetchIt(url, init).catch((cause: unknown) => {
        if (call.signal?.aborted) throw cause;
        throw new ConnectionError(`${new URL(url).origin}/${route}`, 'The gateway can’t be reached', { cause });
      });
    };
    const token = await credential.token();
    const response = await send(token);
    if (response.status !== 401 || isUpstreams(response)) {
      nonces.hear(url, response, '');
      return response;
    }
    if (nonces.hear(url, response, '') && token.key) return send(token);
    const next = await credential.token(token.text);
    return next.text === token.text ? response : send(next);
  };
}

/** The upstream answered, so what it says is none of the gateway's. */
export const isUpstreams = (response: Response) => response.headers.has('x-svc-upstream-status');

/** @throws TypeError for a path that would reach another route */
function routeUrl(proxy_url: string, route: string, path: string): string {
  const [pathname = ''] = path.split(/[?#]/, 1);
  const segments = [route, ...pathname.split('/')].map((one) => one.replace(/%2e/gi, '.'));
  // A URL loses its control characters and the spaces at its end, so that ".\t." becomes "..".
  if (route === '' || /[\\\u0000-\u001f\u007f]| $/.test(path) || segments.some((one) => one === '.' || one === '..'))
    throw new TypeError('A path can’t contain "." or ".." segments, a backslash or control characters, or end in a space.');
  return `${proxy_url.replace(/\/$/, '')}/${encodeURIComponent(route)}${path === '' || /^[/?]/.test(path) ? '' : '/'}${path}`;
}
