import { apiKey, type Credential } from '../credential.ts';
import { ConnectionError } from '../error.ts';
import type { Fetch } from '../exchange.ts';
import { createGateway, isUpstreams } from '../gateway.ts';
import { type Environment, environmentSettings } from '../settings.ts';
import { wrapFetch } from '../wrap.ts';
import { type Decision, decide, hostName, type ManifestRoute, type RouteAround } from './decide.ts';
import { createManifest, type Known } from './manifest.ts';
import { createObserver, isCredentialHeader } from './observations.ts';

export type InterceptOptions = {
  /** `https://api.example.com/v1`. */
  base_url: string;
  /** `https://acme.proxy.example.com`, as `account.get` gives it. */
  proxy_url: string;
  /** An API key as text, or any other credential. */
  credential: string | Credential;
  /** The environment whose routes are read; absent, the workspace's default. */
  environment?: string;
  /** Hosts that go through the ephemeral proxy when no route covers them, with the SDK's own key unless `escrow` names one. None by default. */
  hosts?: 'all' | readonly string[];
  /** Wrap credentials by host: the key stays with the service. */
  escrow?: Readonly<Record<string, string>>;
  /** Calls that stay direct. Endpoints that take raw card numbers always do. */
  route_around?: readonly RouteAround[];
  /** Limits interception to calls for which this answers true, such as those inside an AsyncLocalStorage. */
  context?: () => boolean;
  /** Hosts whose calls in transit go direct when the service can't be reached. Routes and escrow never do. */
  direct_when_unreachable?: readonly string[];
  /** Whether hosts, methods and header names of direct calls with a credential are reported. On by default. */
  observe_uncovered?: boolean;
  fetch?: typeof fetch;
  env?: Environment;
  warn?: (message: string) => void;
};

export type Intercept = {
  /** For SDKs that take a `fetch`, or to replace the global one. */
  fetch: typeof fetch;
  /** What would happen to a call, and why. */
  decide(url: string | URL): Promise<Decision>;
  /** Reads the manifest anew; false when the service didn't answer with one. */
  refresh(): Promise<boolean>;
  /** Sends the last report. */
  stop(): Promise<void>;
};

const OFF = new Set(['off', '0', 'false']);

/**
 * A `fetch` that sends calls through the routes that cover them, so that an application uses a promoted route without a change (interface rule 34 §4). What the
 * provider's own key was is dropped there: the route injects the credential. `SERVICE_INTERCEPT=off` turns it off.
 */
export function createIntercept(options: InterceptOptions): Intercept {
  const { base_url, proxy_url, environment, hosts = [], escrow = {}, route_around = [], context = () => true } = options;
  const { fetch: fetchIt = fetch, env, warn = (message) => console.warn(message) } = options;
  const settings = environmentSettings(env);
  const enabled = !OFF.has(settings.intercept ?? '');
  const credential = typeof options.credential === 'string' ? apiKey(options.credential) : options.credential;
  const manifest = createManifest({ base_url, credential, environment, fetch: fetchIt as Fetch, warn });
  const observer =
    enabled && options.observe_uncovered !== false && settings.observe_uncovered !== 'off'
      ? createObserver({ base_url, credential, fetch: fetchIt as Fetch })
      : undefined;
  const gateway = createGateway({ proxy_url, credential, fetch: fetchIt as Fetch });
  const secrets = new Map(Object.entries(escrow).map(([host, name]) => [hostName(host), name]));
  const listed = hosts === 'all' ? hosts : [...hosts, ...secrets.keys()];
  const own_hosts = [base_url, proxy_url].map((url) => new URL(url).host);
  const fallback = new Set(options.direct_when_unreachable?.map(hostName));
  const warned = new Set<string>();
  const promoted = new Set<string>();
  const wrapped = new Map<string, typeof fetch>();

  const decided = async (url: string | URL): Promise<Decided> => {
    const rules = { enabled, own_hosts, route_around, hosts: listed, inside: context() };
    const first = decide(url, { ...rules, routes: [] });
    // What is direct for a reason of its own is so with any manifest, and costs no question.
    if (first.mode === 'direct' && first.reason !== 'unlisted') return { decision: first, known: { routes: [] } };
    const known = await manifest.known();
    return { decision: decide(url, { ...rules, routes: known.routes }), known };
  };

  const ephemeral = (host: string): typeof fetch => {
    const known = wrapped.get(host);
    if (known) return known;
    const secret = secrets.get(host);
    const made = wrapFetch({
      base_url,
      credential,
      fetch: fetchIt,
      ...(environment === undefined ? {} : { environment }),
      ...(secret === undefined ? {} : { secret }),
    });
    wrapped.set(host, made);
    return made;
  };

  /** The service says that a route covers the call: the next one goes through it, and not in a minute. A slug is looked up once, whatever came of it. */
  const heed = (response: Response): void => {
    const slug = response.headers.get('x-svc-promoted-route');
    if (slug === null || promoted.has(slug)) return;
    promoted.add(slug);
    void manifest.refresh();
  };

  const send = async (request: Request, { decision, known }: Decided): Promise<Response> => {
    const url = new URL(request.url);
    if (decision.mode === 'route') {
      if (decision.route.ambiguous) warnOnce(decision.route, warned, warn);
      return throughRoute(gateway, request, decision, environment ?? known.environment);
    }
    if (decision.mode === 'ephemeral') {
      const host = hostName(url.hostname);
      const response = await ephemeral(host)(request.clone()).catch((error: unknown) => {
        if (!(error instanceof ConnectionError) || secrets.has(host) || !fallback.has(host)) throw error;
        return fetchIt(request);
      });
      heed(response);
      return response;
    }
    if (decision.reason === 'unlisted') observer?.see(url, request.method, request.headers);
    return fetchIt(request);
  };

  return {
    decide: async (url) => (await decided(url)).decision,
    refresh: manifest.refresh,
    stop: async () => observer?.stop(),
    fetch: async (input, init) => {
      const address = input instanceof Request ? input.url : String(input);
      const first = await decided(address);
      if (first.decision.mode === 'direct' && first.decision.reason !== 'unlisted') return fetchIt(input, init);
      const request = new Request(input, init);
      if (first.decision.mode !== 'route') return send(request, first);
      const response = await send(request.clone() as Request, first);
      if (!(await isOutdated(response)) || !(await manifest.refresh())) return response;
      const next = await decided(address);
      if (isSame(first.decision, next.decision)) return response;
      await response.body?.cancel();
      return send(request, next);
    },
  };
}

type Decided = { decision: Decision; known: Known };
type Gateway = ReturnType<typeof createGateway>;

/** The call as the route's upstream gets it: without whatever the SDK holds as its provider's key. */
async function throughRoute(
  gateway: Gateway,
  request: Request,
  { route, path }: { route: ManifestRoute; path: string },
  environment: string | undefined,
): Promise<Response> {
  const headers = new Headers(request.headers);
  for (const name of [...headers.keys()])
    if (name.startsWith('x-svc-') || isCredentialHeader(name) || CONNECTION.has(name)) headers.delete(name);
  headers.set('x-svc-route', route.slug);
  headers.set('x-svc-client-origin', 'sdk-intercept');
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  return gateway('api', path, { method: request.method, headers, body, environment, signal: request.signal });
}

const CONNECTION = new Set(['host', 'content-length', 'dpop']);

/** The service refused because it knows no such route any more, or no such caller. What an upstream says is never taken for that. */
async function isOutdated(response: Response): Promise<boolean> {
  if (isUpstreams(response) || response.headers.has('x-svc-destination-status')) return false;
  if (response.status === 401) return true;
  if (response.status !== 404) return false;
  const { error } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { error?: { type?: unknown } };
  return error?.type === 'route_not_found';
}

const isSame = (a: Decision, b: Decision): boolean =>
  a.mode === 'route' && b.mode === 'route' && a.route.slug === b.route.slug && a.path === b.path;

function warnOnce({ host, base_path, slug }: ManifestRoute, warned: Set<string>, warn: (message: string) => void): void {
  const key = `${host}${base_path}`;
  if (warned.has(key)) return;
  warned.add(key);
  warn(`Several routes cover ${host}${base_path}. Calls go through ${slug}, the first by its slug.`);
}

export type { Decision, ManifestRoute, RouteAround };
