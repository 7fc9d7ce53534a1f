import { isIP } from 'node:net';
import type { Credential } from '../credential.ts';
import { Nonces } from '../dpop.ts';
import type { Fetch } from '../exchange.ts';
import { authorize, USER_AGENT } from '../transport.ts';
import { hostOf } from './decide.ts';

// Names of what leaves this process with a credential and without the service (interface rule 34 §3). A value is never looked at.

const CREDENTIAL_HEADERS = new Set(
  (
    'authorization proxy-authorization x-api-key api-key apikey x-apikey x-auth-token x-access-token x-token token x-secret x-secret-key x-client-secret ' +
    'ocp-apim-subscription-key x-goog-api-key x-amz-security-token x-shopify-access-token klaviyo-api-key x-hubspot-api-key'
  ).split(' '),
);
const SUFFIXES = ['-api-key', '-token', '-secret', '-auth'];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']);

/** Whether a header of this name, in lower case, carries a credential. A suffix alone is no name. */
export const isCredentialHeader = (name: string): boolean =>
  name.length <= 64 &&
  /^[a-z0-9][a-z0-9_-]*$/.test(name) &&
  (CREDENTIAL_HEADERS.has(name) || SUFFIXES.some((suffix) => name.length > suffix.length && name.endsWith(suffix)));

export type ObserverOptions = {
  base_url: string;
  credential: Credential;
  fetch: Fetch;
  /** Milliseconds between reports, within a tenth; 60000. */
  interval_ms?: number;
};
export type Observer = {
  /** Counts a direct call to a host that nothing lists. */
  see(url: URL, method: string, headers: Headers): void;
  /** Reports what is left and nothing more. */
  stop(): Promise<void>;
};

const MOST_HELD = 1_000;
const MOST_REPORTED = 200;
const TIMEOUT_MS = 10_000;
type Seen = {
  host: string;
  first_segment: string;
  method: string;
  header_name: string;
  count: number;
  first_seen: string;
  last_seen: string;
};

/** Counts and reports in the background: every minute, at 200 different keys, and at the end. A report that fails is lost, never repeated; 403 ends reporting. */
export function createObserver({ base_url, credential, fetch: fetchIt, interval_ms = 60_000 }: ObserverOptions): Observer {
  const url = `${base_url.replace(/\/$/, '')}/wrap/egress-observations`;
  const nonces = new Nonces();
  let held = new Map<string, Seen>();
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  let sending = Promise.resolve();

  const report = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const all = [...held.values()];
    held = new Map();
    for (let i = 0; i < all.length; i += MOST_REPORTED) {
      const observations = all.slice(i, i + MOST_REPORTED);
      sending = sending.then(() => send(observations)).catch(() => undefined);
    }
    return sending;
  };

  const send = async (observations: readonly Seen[]): Promise<void> => {
    if (ended) return;
    const headers = new Headers({ 'content-type': 'application/json' });
    await authorize(headers, await credential.token(), { method: 'POST', url, nonce: nonces.of(url) });
    const response = await fetchIt(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ sdk: USER_AGENT.replace(/^[^/]*/, 'typescript'), observations }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    nonces.hear(url, response, '');
    await response.body?.cancel();
    if (response.status === 403) ended = true;
  };

  return {
    see(called, method, headers) {
      const host = hostOf(called);
      if (ended || !METHODS.has(method) || isIP(host) !== 0) return;
      const first_segment = firstSegmentOf(called.pathname);
      const at = new Date().toISOString();
      for (const header_name of headers.keys()) {
        if (!isCredentialHeader(header_name)) continue;
        const key = `${host} ${first_segment} ${method} ${header_name}`;
        const seen = held.get(key);
        if (seen) [seen.count, seen.last_seen] = [seen.count + 1, at];
        else if (held.size < MOST_HELD)
          held.set(key, { host, first_segment, method, header_name, count: 1, first_seen: at, last_seen: at });
      }
      if (held.size >= MOST_REPORTED) void report();
      else if (held.size > 0) timer ??= setTimeout(() => void report(), interval_ms * (0.9 + Math.random() * 0.2)).unref();
    },
    async stop() {
      await report();
      ended = true;
    },
  };
}

/** How tokens of well-known providers begin. */
const CREDENTIAL_START =
  /^(?:bot\d+:|[spr]k_(?:live|test)_|sk-|xox[abposr]-|gh[pousr]_|github_pat_|glpat-|shp(?:at|ca|pa|ss)_|A[KS]IA|AIza|eyJ|SG\.)/i;

/** Only a segment that is plainly a word of an API leaves this process; the service judges it once more. */
function firstSegmentOf(path: string): string {
  const segment = /^\/[^/]*/.exec(path)?.[0].slice(1) ?? '';
  return /^[A-Za-z0-9._~-]{1,23}$/.test(segment) && !CREDENTIAL_START.test(segment) ? `/${segment}` : '/';
}
