import type { TlsMaterial } from './connector.ts';
import { UpstreamFault } from './faults.ts';
import type { HeaderList } from './response-parser.ts';
import type { EgressSettings } from './settings.ts';
import { parseTarget } from './target-url.ts';
import type { UpstreamCall } from './upstream-call.ts';
import type { UpstreamPools } from './upstream-pool.ts';

export type OutboundRequest = {
  /** Absolute http(s) URL; a query is allowed, credentials and fragment are not. */
  url: string;
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Buffer | undefined;
  /** Whole call, connect to last byte; default 10 s. */
  timeoutMs?: number | undefined;
  /** Response body; default 1 MiB. */
  maxBytes?: number | undefined;
  /** What to do with a longer body: fail (default), or keep the first maxBytes and hang up. */
  overflow?: 'fail' | 'truncate' | undefined;
  /** Keeps connections of different workspaces apart. */
  tenant: string;
  space: string;
  tls?: TlsMaterial | undefined;
  identity?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Paces the reading of the answer. */
  pace?: Pace | undefined;
};

/**
 * Begins an answer; what it returns is told the bytes of the body so far, and says whether to read on. If not, `resume` must be called for that. The timeout
 * runs on.
 */
export type Pace = (resume: () => void) => (bytes: number) => boolean;

export type OutboundResponse = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  truncated: boolean;
};

export type RequestOut = (request: OutboundRequest) => Promise<OutboundResponse>;

/**
 * One bounded call for everything that is not the data plane (webhooks, importers, issuers): same guard, no redirects, no
 * decompression, body in memory. Any status is an answer; what is not an answer rejects with UpstreamFault.
 */
export function createRequestOut(pools: UpstreamPools, settings: EgressSettings): RequestOut {
  return async (request) => {
    const { timeoutMs = 10_000, maxBytes = 1024 * 1024, overflow = 'fail' } = request;
    const mark = request.url.indexOf('?');
    const parsed = parseTarget(mark === -1 ? request.url : request.url.slice(0, mark), settings);
    const query = mark === -1 ? '' : request.url.slice(mark);
    if (!parsed.ok || parsed.hasVariables || /[^\x21-\x7e]|#/.test(query))
      throw new UpstreamFault('upstream_not_allowed', `The URL ${parsed.ok ? 'is malformed' : parsed.message}.`, { phase: 'connect' });
    const { scheme, host, port, authority, path } = parsed.target;

    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let status = 0;
      let headers: OutboundResponse['headers'] = {};
      let call: UpstreamCall | undefined;
      const readsOn = request.pace?.(() => call?.resume());
      let settled = false;
      const settle = (act: () => void) => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        request.signal?.removeEventListener('abort', giveUp);
        act();
      };
      const fail = (fault: UpstreamFault) => {
        settle(() => reject(fault));
        call?.abort();
      };
      const giveUp = () => fail(new UpstreamFault('aborted', 'The call was canceled.'));
      const finish = (truncated: boolean) => settle(() => resolve({ status, headers, body: Buffer.concat(chunks), truncated }));
      const timer = setTimeout(() => fail(new UpstreamFault('upstream_timeout', `The host ${host} did not respond in time.`)), timeoutMs);
      request.signal?.addEventListener('abort', giveUp, { once: true });
      if (request.signal?.aborted) return giveUp();

      const own = { 'accept-encoding': 'identity', ...request.headers, host: authority };
      const { tenant, space, tls, identity, method = 'GET', body } = request;
      call = pools.get({ tenant, space, scheme, host, port, tls, identity }).send(
        {
          path: (path || '/') + query,
          method,
          headers: Object.entries(own).flat(),
          body: typeof body === 'string' ? Buffer.from(body) : body,
        },
        {
          onHead(code, received) {
            status = code;
            headers = headersByName(received);
          },
          onData(lent) {
            const room = maxBytes - bytes;
            bytes += lent.length;
            chunks.push(Buffer.from(lent.subarray(0, Math.max(0, room))));
            if (lent.length <= room) {
              if (readsOn?.(bytes) === false) call?.pause();
              return;
            }
            if (overflow === 'fail')
              return fail(new UpstreamFault('upstream_response_too_large', `The response from ${host} exceeds ${maxBytes} bytes.`));
            finish(true);
            call?.abort();
          },
          onEnd: () => finish(false),
          onFault: (fault) => settle(() => reject(fault)),
        },
      );
    });
  };
}

/** A name that came more than once has a list. */
function headersByName(list: HeaderList): OutboundResponse['headers'] {
  const found = new Map<string, string[]>();
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] as string;
    found.set(name, [...(found.get(name) ?? []), list[i + 1] as string]);
  }
  return Object.fromEntries([...found].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]));
}
