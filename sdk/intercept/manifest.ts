import type { Credential } from '../credential.ts';
import { Nonces } from '../dpop.ts';
import { assertSafe, type Fetch } from '../exchange.ts';
import { authorize } from '../transport.ts';
import type { ManifestRoute } from './decide.ts';

export type ManifestOptions = {
  /** `https://api.example.com/v1`. */
  base_url: string;
  credential: Credential;
  environment?: string | undefined;
  fetch: Fetch;
  warn: (message: string) => void;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
};

/** What is known, and the environment that the service resolved; it is absent while nothing is known. */
export type Known = { routes: readonly ManifestRoute[]; environment?: string };

export type Manifest = {
  /** What is known now; waits for the first answer, and for none after it unless what is known is two lives old. */
  known(): Promise<Known>;
  /** Asks again at once, with everybody who asks at the same time. False when the service didn't say what is covered. */
  refresh(): Promise<boolean>;
};

const DEFAULT_TTL_SECONDS = 60;
const TIMEOUT_MS = 5_000;
/** How much longer each failure in a row makes the wait. */
const BACKOFF = [1, 2, 4, 8];
/** Of the wait after an answer that says there is none for this caller. */
const NONE_FACTOR = 10;

/**
 * The intercept manifest of an environment, kept as fresh as the service asks for (interface rule 34 §2). It is asked for when a call needs it, so that an idle
 * process asks nothing. A failure keeps what is known.
 */
export function createManifest({
  base_url,
  credential,
  environment,
  fetch: fetchIt,
  warn,
  now = () => performance.now(),
}: ManifestOptions): Manifest {
  const url = new URL(`${base_url.replace(/\/$/, '')}/wrap/intercept-manifest`);
  if (environment !== undefined) url.searchParams.set('environment', environment);
  assertSafe(url.href);
  const nonces = new Nonces();
  let known: Known = { routes: [] };
  let etag: string | null = null;
  let ttl = DEFAULT_TTL_SECONDS * 1000;
  let failures = 0;
  let warned = false;
  let due = Number.NEGATIVE_INFINITY;
  let stale = Number.NEGATIVE_INFINITY;
  let running: Promise<boolean> | undefined;

  const ask = async (refused?: string, withNonce = false): Promise<Response> => {
    const token = await credential.token(refused);
    const headers = new Headers(etag === null ? {} : { 'if-none-match': etag });
    await authorize(headers, token, { method: 'GET', url: url.href, nonce: nonces.of(url.href) });
    const response = await fetchIt(url.href, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const wantsNonce = nonces.hear(url.href, response, '');
    if (response.status !== 401 || refused !== undefined || withNonce) return response;
    await response.body?.cancel();
    return wantsNonce && token.key ? ask(undefined, true) : ask(token.text);
  };

  const load = async (): Promise<boolean> => {
    let wait = NONE_FACTOR;
    let told = true;
    try {
      const response = await ask();
      if (response.status === 200) {
        const { data } = (await response.json()) as { data: { ttl_seconds?: unknown; routes?: unknown; environment?: unknown } };
        known = { routes: routesOf(data.routes), ...(typeof data.environment === 'string' ? { environment: data.environment } : {}) };
        ttl = ttlOf(data.ttl_seconds);
        etag = response.headers.get('etag');
        [wait, failures, warned] = [1, 0, false];
      } else {
        await response.body?.cancel();
        if (response.status === 304) [wait, failures] = [1, 0];
        else if (![401, 403, 404].includes(response.status)) throw new Error(`status ${response.status}`);
        else {
          [known, etag, told] = [{ routes: [] }, null, false];
          if (!warned)
            warn(`Routes are not intercepted: the service has no manifest for this credential and environment (${response.status}).`);
          warned = true;
        }
      }
    } catch {
      wait = BACKOFF[Math.min(failures++, BACKOFF.length - 1)] ?? 1;
      told = false;
    }
    due = now() + ttl * wait;
    stale = now() + ttl * Math.max(2, wait);
    return told;
  };

  const refresh = (): Promise<boolean> => {
    running ??= load().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    refresh,
    async known() {
      const at = now();
      if (at >= due) {
        const asked = refresh();
        if (at >= stale) await asked;
      }
      return known;
    },
  };
}

/** @throws Error for what is no manifest, which then changes nothing */
function routesOf(given: unknown): ManifestRoute[] {
  if (!Array.isArray(given)) throw new Error('not a manifest');
  return given.filter(
    (one: Partial<ManifestRoute> | null): one is ManifestRoute =>
      typeof one?.host === 'string' && typeof one.slug === 'string' && typeof one.base_path === 'string' && one.base_path.startsWith('/'),
  );
}

const ttlOf = (seconds: unknown): number =>
  (typeof seconds === 'number' && seconds > 0 ? Math.min(Math.max(seconds, 10), 3600) : DEFAULT_TTL_SECONDS) * 1000;
