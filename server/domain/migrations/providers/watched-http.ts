import type { OutboundResponse } from '#server/platform/http-out/request-out.ts';
import { refusalFaultOf, type StoreHttp, type StoreRequest } from './http.ts';
import { ProviderFault, TooLarge } from './provider.ts';

type Last = { host: string; status: number; requestId: string | undefined };

/** Where an SDK may call, who that is, and which of these hosts give out tokens. */
export type Watch = {
  who: string;
  allows: (host: string) => boolean;
  issues: (host: string) => boolean;
  /** What to check when no token is given. */
  untrusted: string;
};

/**
 * The transport of an SDK: only to the hosts that its store has, and with what the store answered in memory, because SDKs wrap faults and answers in errors of
 * many shapes whose texts may repeat what was sent.
 */
export function watchedHttp(http: StoreHttp, { who, allows, issues, untrusted }: Watch) {
  const seen: { last?: Last | undefined; fault?: unknown } = {};

  const send = async (request: StoreRequest): Promise<OutboundResponse> => {
    const url = URL.parse(request.url);
    const host = url?.hostname ?? '';
    try {
      if (url?.protocol !== 'https:' || url.port !== '' || !allows(host))
        throw new ProviderFault('misconfigured', `${who} names a host that isn't its own.`);
      const answer = await http.send({ ...request, headers: withoutCoding(request.headers) });
      const id = answer.headers['x-ms-request-id'] ?? answer.headers['x-request-id'];
      seen.last = { host, status: answer.status, requestId: typeof id === 'string' ? id.slice(0, 100) : undefined };
      return answer;
    } catch (error) {
      seen.fault = error;
      throw error;
    }
  };

  /** Runs a call of the SDK. What it throws becomes what really happened. @throws ProviderFault, TooLarge */
  const answered = async <T>(work: () => Promise<T>): Promise<T> => {
    seen.last = undefined;
    seen.fault = undefined;
    try {
      return await work();
    } catch (error) {
      const { last, fault } = seen;
      if (fault !== undefined) throw fault;
      if (error instanceof ProviderFault || error instanceof TooLarge) throw error;
      const found = last as Last | undefined; // of another call, which the compiler can't see
      if (!found || found.status < 400)
        throw new ProviderFault('misconfigured', `${who} answered with something that could not be read.`, { cause: error });
      const { host, status, requestId } = found;
      if (issues(host) && status < 500 && status !== 429) throw new ProviderFault('access_denied', untrusted, { cause: error, requestId });
      throw refusalFaultOf(status, who, { cause: error, requestId });
    }
  };
  return { send, answered };
}

/** Nothing here decodes what a store compresses. */
function withoutCoding(headers: StoreRequest['headers'] = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !['accept-encoding', 'content-length', 'host'].includes(name.toLowerCase())),
  );
}
