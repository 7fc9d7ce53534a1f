import { isRawCardEndpoint } from '../wrap.ts';

/** A route of the intercept manifest (interface rule 34 §2). */
export type ManifestRoute = {
  host: string;
  base_path: string;
  slug: string;
  route_id: string;
  requires_clients: boolean;
  allowed_methods: readonly string[] | null;
  ambiguous?: true;
  updated_at: string | null;
};

export type RouteAround = { host: string; path_prefix?: string };

/** What a decision rests on. Hosts are host names in any spelling. */
export type Rules = {
  enabled: boolean;
  /** `host[:port]` of the service itself. */
  own_hosts: readonly string[];
  /** Calls that stay direct, besides endpoints that take raw card numbers: the service refuses those. */
  route_around: readonly RouteAround[];
  /** Hosts whose calls go through the ephemeral proxy when no route covers them. */
  hosts: 'all' | readonly string[];
  /** Whether the caller is inside the context that interception is limited to; true when there is no such limit. */
  inside: boolean;
  routes: readonly ManifestRoute[];
};

export type DirectReason = 'kill_switch' | 'unparseable' | 'own_host' | 'route_around' | 'outside_context' | 'unlisted';
export type Decision =
  | { mode: 'direct'; reason: DirectReason }
  | { mode: 'route'; reason: 'manifest'; route: ManifestRoute; path: string }
  | { mode: 'ephemeral'; reason: 'no_base_path_match' | 'no_route' };

/** How a call travels: the first rule that applies wins (interface rule 34 §4). */
export function decide(address: string | URL, rules: Rules): Decision {
  if (!rules.enabled) return direct('kill_switch');
  const url = URL.parse(String(address));
  if (!url || !/^https?:$/.test(url.protocol) || hostOf(url) === '') return direct('unparseable');
  const host = hostOf(url);
  if (rules.own_hosts.some((own) => sameHost(own, url))) return direct('own_host');
  if (isRawCardEndpoint(url) || rules.route_around.some((rule) => goesAround(rule, host, url.pathname))) return direct('route_around');
  if (!rules.inside) return direct('outside_context');
  const routes = rules.routes.filter((route) => hostName(route.host) === host);
  // The service only names routes of a scheme's own port, so a call to another one means another server.
  const route = url.port === '' ? mostSpecific(routes.filter(({ base_path }) => covers(base_path, url.pathname))) : undefined;
  if (route) return { mode: 'route', reason: 'manifest', route, path: `${rebased(route.base_path, url.pathname)}${url.search}` };
  if (rules.hosts === 'all' || rules.hosts.some((listed) => hostName(listed) === host))
    return { mode: 'ephemeral', reason: routes.length > 0 ? 'no_base_path_match' : 'no_route' };
  return direct('unlisted');
}

const direct = (reason: DirectReason): Decision => ({ mode: 'direct', reason });

/** In lower case, without port, brackets and trailing dot. */
export const hostOf = ({ hostname }: URL): string => hostName(hostname);
export const hostName = (host: string): string =>
  host
    .trim()
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');

function sameHost(own: string, url: URL): boolean {
  const other = URL.parse(`${url.protocol}//${own}`);
  return other !== null && hostOf(other) === hostOf(url) && other.port === url.port;
}

const goesAround = ({ host, path_prefix = '/' }: RouteAround, called: string, path: string): boolean =>
  hostName(host) === called && path.startsWith(path_prefix);

/** `/crm/v3` covers itself and what is under it, and not `/crm/v30`. */
const covers = (base: string, path: string): boolean => base === '/' || path === base || path.startsWith(`${base}/`);

const rebased = (base: string, path: string): string => (base === '/' ? path : path.slice(base.length) || '/');

/** The longest base path, and of several with the same one the lowest slug by its bytes. */
const mostSpecific = (routes: readonly ManifestRoute[]): ManifestRoute | undefined =>
  routes.toSorted((a, b) => b.base_path.length - a.base_path.length || (a.slug < b.slug ? -1 : 1))[0];
