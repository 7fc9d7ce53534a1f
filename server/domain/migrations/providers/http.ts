import { parseBounded } from '#server/kernel/bounded-text.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { OutboundResponse } from '#server/platform/http-out/request-out.ts';
import { ProviderFault } from './provider.ts';

export type StoreRequest = {
  url: string;
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer | undefined;
  signal?: AbortSignal | undefined;
};

/** The way out for one store of one workspace: through the guard, without redirects. */
export type StoreHttp = {
  /** Any status is an answer. @throws ProviderFault when there is none */
  send(request: StoreRequest): Promise<OutboundResponse>;
  close(): Promise<void>;
};

/** A page of a store may hold a thousand names with their tags. */
const ANSWER_BYTES = 16 * 1024 * 1024;
const ANSWER_SHAPE = { levels: 64, values: 300_000, members: 100_000 };
const TIMEOUT_MS = 30_000;

export function storeHttp(tenant: string, space: string): StoreHttp {
  const http: OutboundHttp = openHttp({ connections: 2 });
  return {
    send: ({ signal, ...request }) =>
      http
        .request({ ...request, tenant, space, timeoutMs: TIMEOUT_MS, maxBytes: ANSWER_BYTES, ...(signal ? { signal } : {}) })
        .catch((error: unknown) => {
          throw faultOf(error, request.url);
        }),
    close: () => http.close(),
  };
}

function faultOf(error: unknown, url: string): unknown {
  if (!(error instanceof UpstreamFault) || error.type === 'aborted') return error;
  const host = URL.parse(url)?.hostname ?? 'the store';
  return error.type === 'upstream_not_allowed'
    ? new ProviderFault('misconfigured', `The address ${host} can't be called from here.`, { cause: error })
    : new ProviderFault('unreachable', `${host} could not be reached.`, { cause: error });
}

/** JSON of an answer; undefined when it is something else. */
export function jsonOf<T>({ body }: Pick<OutboundResponse, 'body'>): T | undefined {
  try {
    return parseBounded(body.toString('utf8'), ANSWER_SHAPE) as T;
  } catch {
    return undefined;
  }
}

/** What a status without success means, of a store that speaks HTTP. */
export function refusalOf({ status, headers }: Pick<OutboundResponse, 'status' | 'headers'>, what: string): ProviderFault {
  const id = headers['x-request-id'] ?? headers['x-ms-request-id'];
  const requestId = typeof id === 'string' ? id.slice(0, 100) : undefined;
  if (status === 401 || status === 403) return new ProviderFault('access_denied', `${what} was refused by the store.`, { requestId });
  if (status === 404) return new ProviderFault('not_found', `${what} doesn't exist in the store.`, { requestId });
  if (status === 429) return new ProviderFault('throttled', `The store limits calls.`, { requestId });
  if (status >= 500) return new ProviderFault('unreachable', `The store answered with status ${status}.`, { requestId });
  return new ProviderFault('misconfigured', `The store answered with status ${status}.`, { requestId });
}

/** The same for an SDK's error, of which only the status is known; undefined when there was no answer. */
export function refusalFaultOf(
  status: number | undefined,
  who: string,
  options: { cause?: unknown; requestId?: string | undefined },
): ProviderFault {
  if (status === undefined || status >= 500) return new ProviderFault('unreachable', `${who} couldn't be reached.`, options);
  if (status === 401 || status === 403) return new ProviderFault('access_denied', `${who} refused the call.`, options);
  if (status === 404) return new ProviderFault('not_found', `${who} doesn't know it.`, options);
  if (status === 429) return new ProviderFault('throttled', `${who} limits calls.`, options);
  return new ProviderFault('misconfigured', `${who} answered with status ${status}.`, options);
}
