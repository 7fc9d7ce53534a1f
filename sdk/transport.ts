import type { Credential, Token } from './credential.ts';
import { Nonces } from './dpop.ts';
import { ConnectionError, errorOf } from './error.ts';
import { type Answer, exchange, type Fetch, pause } from './exchange.ts';
import { backoff, delayAfter } from './retry.ts';
import { ulid } from './ulid.ts';

export type TransportOptions = {
  credential: Credential | undefined;
  fetch: Fetch;
  /** Of one attempt, its whole answer included. */
  timeout_ms: number;
  max_retries: number;
  service_version: string;
  user_agent: string;
};

export const USER_AGENT = 'sallyport-sdk/0.1.0';
const CHANGES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Sends a request of the Management API under its client contract: one idempotency key for all attempts of a change, so that repeating it is safe;
 * a version; a proof for each attempt; another token after a 401; retries. Answers only successes.
 * @throws SallyportError, ConnectionError
 */
export function transport(options: TransportOptions): (request: Request) => Promise<Response> {
  const nonces = new Nonces();

  return async (request) => {
    const { method, url, signal } = request;
    const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
    const headers = new Headers(request.headers);
    if (!headers.has('service-version')) headers.set('service-version', options.service_version);
    if (CHANGES.has(method) && !headers.has('idempotency-key') && !headers.has('x-idempotency-key'))
      headers.set('x-idempotency-key', ulid());
    headers.set('user-agent', options.user_agent);

    const attempt = async (token: Token | undefined): Promise<Answer> => {
      const sent = new Headers(headers);
      await authorize(sent, token, { method, url, nonce: nonces.of(url) });
      return exchange(options.fetch, { method, url, headers: sent, body }, options.timeout_ms, signal);
    };

    let token = await options.credential?.token();
    let renewed = false;
    let withNonce = false;
    for (let failures = 0; ; ) {
      let delay: number | undefined;
      let failure: Error;
      try {
        const { response, text } = await attempt(token);
        const wantsNonce = nonces.hear(url, response, text);
        if (response.ok) return new Response(text === '' ? null : text, response);
        if (wantsNonce && token?.key && !withNonce) {
          withNonce = true;
          continue;
        }
        if (response.status === 401 && token && !renewed) {
          renewed = true;
          const next = await options.credential?.token(token.text);
          if (next && next.text !== token.text) {
            token = next;
            continue;
          }
        }
        failure = errorOf(response, text);
        delay = delayAfter(response, failures);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        failure = error;
        delay = backoff(failures);
      }
      if (delay === undefined || failures++ >= options.max_retries) throw failure;
      await pause(delay, signal);
    }
  };
}

/** A token as a header can hold it. The platform's own refusal would show the whole token. @throws TypeError */
export function sendable(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new TypeError('The credential has a space, a line break or another character that no credential has.');
}

/** Puts a token into the headers of one attempt: with a proof when it is bound to a key. */
export async function authorize(
  headers: Headers,
  token: Token | undefined,
  { method, url, nonce }: { method: string; url: string; nonce?: string | undefined },
): Promise<void> {
  if (!token) return;
  headers.set('authorization', `${token.key ? 'DPoP' : 'Bearer'} ${sendable(token.text)}`);
  if (token.key) headers.set('dpop', await token.key.proof({ method, url, access_token: token.text, nonce }));
}
