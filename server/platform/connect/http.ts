import { egress } from '../egress.ts';
import { createRequestOut, type OutboundRequest, type OutboundResponse } from '../http-out/request-out.ts';
import type { Resolver } from '../http-out/resolver.ts';
import { createUpstreamPools } from '../http-out/upstream-pool.ts';

export type GuardedRequest = OutboundRequest & {
  /** Redirects to follow, of GET and HEAD only; none by default. Each hop is judged by the guard and loses the credentials when the origin changes. */
  redirects?: number;
  /** Names of headers, in lower case, that are credentials beside the usual ones: they are lost with them. */
  credentials?: readonly string[];
};

export type OutboundHttp = {
  /** One bounded call: guarded address, no decompression, body in memory. Any status is an answer. @throws UpstreamFault for everything else */
  request(request: GuardedRequest): Promise<OutboundResponse>;
  /** Lets running calls finish. */
  close(): Promise<void>;
};

type Options = {
  /** Sockets per workspace, space and origin. */
  connections?: number;
  connectTimeoutMs?: number;
  resolver?: Resolver;
};

/** The way out for every call that isn't the data plane: deliveries, token endpoints, icons, probes. Keep one per purpose and close it. */
export function openHttp({ connections = 10, connectTimeoutMs, resolver = egress() }: Options = {}): OutboundHttp {
  const pools = createUpstreamPools({ resolver, connections, connectTimeoutMs });
  const send = createRequestOut(pools, resolver.settings);
  return {
    async request({ redirects = 0, credentials = [], ...request }) {
      const safe = request.method === undefined || request.method === 'GET' || request.method === 'HEAD';
      for (let hop = 0, next = request; ; hop++) {
        const answer = await send(next);
        const url = safe && hop < redirects ? redirectOf(answer, next.url) : undefined;
        if (url === undefined) return answer;
        next = { ...next, url, headers: sameOrigin(url, next.url) ? next.headers : withoutCredentials(next.headers, credentials) };
      }
    },
    close: () => pools.close(),
  };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** RFC 9110 §15.4: a reference relative to what was asked; its fragment is no part of a request. */
function redirectOf({ status, headers }: OutboundResponse, asked: string): string | undefined {
  if (!REDIRECTS.has(status) || typeof headers.location !== 'string') return undefined;
  const next = URL.parse(headers.location, asked);
  if (!next) return undefined;
  next.hash = '';
  return next.href;
}

const sameOrigin = (a: string, b: string) => URL.parse(a)?.origin === URL.parse(b)?.origin;

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);
const withoutCredentials = (headers: GuardedRequest['headers'], more: readonly string[]) =>
  headers &&
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !CREDENTIALS.has(name.toLowerCase()) && !more.includes(name.toLowerCase())),
  );
