// What the lists are asked for: every list, its first and last page, each sort both ways, each filter and each search it offers.

export type ListCase = {
  list: string;
  asks: string;
  plane: 'v1' | 'dashboard';
  path: (place: Place) => string;
};
/** Where one workspace's answers lie. */
export type Place = { count: number; routeId: string; secretId: string; clientId: string; collectionId: string; environment: string };

type Asked = Record<string, string> | ((place: Place) => Record<string, string>);
type Listed = { path: string | ((place: Place) => string); plane?: 'dashboard'; sorts?: readonly string[]; asks?: Record<string, Asked> };

/** Row 50 is in both workspaces, and so is its mark: a search for it finds one row or, in log paths, a handful. */
const rare = 'c0c7c76d30bd3dcaefc96f40275bdc0a';
/** Three hexadecimal digits: one row of 140 holds them. */
const some = 'abc';

const lists: Record<string, Listed> = {
  routes: {
    path: '/v1/routes',
    sorts: ['created_at', 'name', 'enabled'],
    asks: {
      'enabled=true, 95 %': { enabled: 'true' },
      'enabled=false, 5 %': { enabled: 'false' },
      'environment, all': ({ environment }) => ({ environment }),
      'collection_id, 2 %': ({ collectionId }) => ({ collection_id: collectionId }),
      'q of one row': { q: rare },
      'q of 0.7 %': { q: some },
      'q of all': { q: 'route' },
      'q of two letters': { q: 'e1' },
      'q of none': { q: 'zzzz' },
      'enabled and q': { enabled: 'true', q: some },
    },
  },
  secrets: {
    path: '/v1/secrets',
    sorts: ['name', 'created_at', 'base_environment'],
    asks: {
      'secret_type, all': { secret_type: 'string' },
      'collection_id, 2 %': ({ collectionId }) => ({ collection_id: collectionId }),
      'tag, 5 %': { tag: 'pci' },
      'expiring_within_days, 2 %': { expiring_within_days: '7' },
      'q of one row': { q: rare },
      'q of 0.7 %': { q: some },
      'q of all': { q: 'SECRET' },
    },
  },
  clients: {
    path: '/v1/clients',
    sorts: ['created_at', 'name', 'type', 'ip_address'],
    asks: {
      'type=server, 95 %': { type: 'server' },
      'type=user, 5 %': { type: 'user' },
      'enabled=true, 95 %': { enabled: 'true' },
      'enabled=false, 5 %': { enabled: 'false' },
      'collection_id, 2 %': ({ collectionId }) => ({ collection_id: collectionId }),
      'q of one row': { q: rare },
      'q of an address': { q: '10.0.0.50' },
      'q of 0.7 %': { q: some },
      'q of all': { q: 'client' },
    },
  },
  collections: {
    path: '/v1/collections',
    sorts: ['name'],
    asks: { 'q of one row': { q: rare }, 'q of 0.7 %': { q: some }, 'q of all': { q: 'team' } },
  },
  'api keys': {
    path: '/v1/api-keys',
    sorts: ['created_at', 'name', 'last_used_at'],
    asks: {
      'active=true, 95 %': { active: 'true' },
      'active=false, 5 %': { active: 'false' },
      'key_type=standard, 95 %': { key_type: 'standard' },
      'key_type=access_key, 5 %': { key_type: 'access_key' },
    },
  },
  'audit logs': {
    path: '/v1/audit-logs',
    sorts: [],
    asks: {
      'action, 33 %': { action: 'update' },
      'resource_type, 25 %': { resource_type: 'secret' },
      'resource_id, 1 row': ({ routeId }) => ({ resource_id: routeId }),
      'actor_id, 5 %': { actor_id: 'k7' },
      'from, last 10 minutes': () => ({ from: minutesAgo(10) }),
      'to, all but 10 minutes': () => ({ to: minutesAgo(10) }),
      'chain=general': { chain: 'general' },
      'chain=critical': { chain: 'critical' },
    },
  },
  "a route's logs": {
    path: ({ routeId }) => `/v1/routes/${routeId}/logs`,
    sorts: [],
    asks: {
      'environment, all': ({ environment }) => ({ environment }),
      'status_code=200, 95 %': { status_code: '200' },
      'status_code=502, 5 %': { status_code: '502' },
      'method=POST, 5 %': { method: 'POST' },
      'since, last 10 minutes': () => ({ since: minutesAgo(10) }),
      'until, all but 10 minutes': () => ({ until: minutesAgo(10) }),
    },
  },
  'log feed': { path: '/v1/logs' },
  'audit feed': { path: '/v1/audit-logs/events' },
  environments: { path: '/v1/environments' },
  roles: { path: '/v1/roles' },
  "a client's credentials": { path: ({ clientId }) => `/v1/clients/${clientId}/credentials` },
  "a route's clients": { path: ({ routeId, environment }) => `/v1/routes/${routeId}/environments/${environment}/clients` },
  "a route's environments": { path: ({ routeId }) => `/v1/routes/${routeId}/environments` },
  "a collection's variables": { path: ({ collectionId }) => `/v1/collections/${collectionId}/variables` },
  'a collection': { path: ({ collectionId }) => `/v1/collections/${collectionId}` },
  'request logs': {
    path: '/admin/logs',
    plane: 'dashboard',
    asks: {
      'newest first': {},
      'by latency': { sort: 'latency_ms' },
      'page 100': ({ count }) => ({ page: String(Math.min(100, count / 20)) }),
      'status_class=5xx, 5 %': { status_class: '5xx' },
      'route_id, all': ({ routeId }) => ({ route_id: routeId }),
      'q of a path': { q: '/v1/charges/99' },
      'q of none': { q: 'zzzz' },
    },
  },
  'log figures': {
    path: '/admin/logs/stats',
    plane: 'dashboard',
    asks: {
      'last day': {},
      'last 16 hours': () => ({ from: minutesAgo(960) }),
      'last 30 days': () => ({ from: minutesAgo(43_200) }),
      'route_id, all': ({ routeId }) => ({ route_id: routeId }),
    },
  },
  timeline: {
    path: '/admin/audit-logs',
    plane: 'dashboard',
    asks: {
      'newest first': {},
      'action_prefix, 33 %': { action_prefix: 'upd' },
      ip: { ip: '10.9.9.9' },
      'q of one row': { q: rare },
      'q of 0.7 %': { q: some },
      'q of none': { q: 'zzzz' },
    },
  },
  'timeline facets': { path: '/admin/audit-logs/facets', plane: 'dashboard' },
  'critical entries': { path: '/admin/audit-logs/critical', plane: 'dashboard' },
  "calls of a page's routes": { path: ({ routeId }) => `/admin/logs/traffic?kind=route&ids=${routeId}`, plane: 'dashboard' },
  "state of a page's routes": { path: ({ routeId }) => `/admin/routes/overview?ids=${routeId}`, plane: 'dashboard' },
  'calls by day': { path: '/admin/logs/days', plane: 'dashboard' },
  "a secret's versions": { path: ({ secretId }) => `/admin/secrets/${secretId}/versions`, plane: 'dashboard' },
  "a secret's usage": { path: ({ secretId }) => `/admin/secrets/${secretId}/usage`, plane: 'dashboard' },
  sessions: { path: '/auth/sessions', plane: 'dashboard' },
};

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** Lists with `sorts` are paged: their last page is asked as well. */
export const listCases: readonly ListCase[] = Object.entries(lists).flatMap(([list, { path, plane, sorts, asks }]) => {
  const one = (what: string, asked: Asked): ListCase => ({
    list,
    asks: what,
    plane: plane ?? 'v1',
    path: (place) => {
      const query = new URLSearchParams(typeof asked === 'function' ? asked(place) : asked).toString();
      return (typeof path === 'function' ? path(place) : path) + (query && `?${query}`);
    },
  });
  const last = (asked: Record<string, string>) =>
    one(`${Object.values(asked).join(' ')} last page`.trim(), ({ count }) => ({ ...asked, page: String(Math.floor(count / 20)) }));
  const sorted = (sorts ?? []).flatMap((sort) => ['asc', 'desc'].map((order) => ({ sort, order })));
  return [
    ...(asks && 'newest first' in asks ? [] : [one('first page', {})]),
    ...(sorts ? [last({})] : []),
    ...sorted.map((asked) => one(`${asked.sort} ${asked.order}`, asked)),
    ...sorted.map(last),
    ...Object.entries(asks ?? {}).map(([what, asked]) => one(what, asked)),
  ];
});
