import { type FamilyBench, rare, some } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    routes: {
      order: 10,
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
    "a route's clients": { order: 130, path: ({ routeId, environment }) => `/v1/routes/${routeId}/environments/${environment}/clients` },
    "a route's environments": { order: 140, path: ({ routeId }) => `/v1/routes/${routeId}/environments` },
    "state of a page's routes": { order: 230, path: ({ routeId }) => `/admin/routes/overview?ids=${routeId}`, plane: 'dashboard' },
  },
  rows: [
    `insert into routes (id, tenant_id, sandbox, name, slug, enabled, base_environment_id, collection_id, created_at, updated_at)
    select id, $tenant::uuid, false, 'Route ' || md5(i::text), 'route-' || i, i % 20 <> 0, $environment::uuid, team, at, at from placed`,
    `insert into route_environment_configs (id, tenant_id, sandbox, route_id, environment_id, environment_name, is_base, target_base_url, inject_headers_json, created_at, updated_at)
    select child, $tenant::uuid, false, id, $environment::uuid, $name, true, 'https://api' || i || '.example.com', '{"X-From": "bench"}', at, at from made`,
  ],
  counts: { routes: 'routes' },
};
