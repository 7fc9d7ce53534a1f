import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError } from './error.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
export type Sent = { method: string; url: string; headers: Headers; body?: Uint8Array<ArrayBuffer> | string | undefined };
export type Answer = { response: Response; text: string };

/**
 * One request and its whole answer. Redirects are not followed: the next address would get the credential.
 * @throws ConnectionError when no complete answer came in time; the caller's own reason when `signal` ended it
 */
export async function exchange(fetch: Fetch, sent: Sent, timeout_ms: number, signal?: AbortSignal): Promise<Answer> {
  assertSafe(sent.url);
  const timeout = AbortSignal.timeout(timeout_ms);
  const init: RequestInit = {
    method: sent.method,
    headers: sent.headers,
    redirect: 'manual',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    ...(sent.body === undefined ? {} : { body: sent.body }),
  };
  try {
    const response = await fetch(sent.url, init);
    return { response, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    const { origin, pathname } = new URL(sent.url);
    throw new ConnectionError(`${origin}${pathname}`, timeout.aborted ? `No answer within ${timeout_ms / 1000} s` : reasonOf(cause), {
      cause,
    });
  }
}

/** A credential in clear text is anybody's on the way. Loopback addresses are this machine. @throws TypeError */
export function assertSafe(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return;
  if (protocol === 'http:' && /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)) return;
  throw new TypeError(`Credentials are sent over https only, and ${protocol}//${hostname} is neither https nor this machine.`);
}

export const pause = (ms: number, signal?: AbortSignal): Promise<void> => sleep(ms, undefined, signal ? { signal } : {});

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = (inner as { code?: string } | undefined)?.code;
  if (code === 'ECONNREFUSED') return 'Nothing is listening at this address';
  if (code === 'ENOTFOUND') return 'The host name is unknown';
  return `The connection failed: ${inner instanceof Error ? inner.message || code : String(inner)}`;
}
