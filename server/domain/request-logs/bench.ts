import { type FamilyBench, minutesAgo } from '#scripts/bench/family-bench.ts';
import { bucketOf, LATENCY_BUCKETS } from './buckets.ts';

/** All calls of a minute in the bucket of a duration. */
const histogram = (ms: number) =>
  `array[${Array.from({ length: LATENCY_BUCKETS }, (_, i) => (i === bucketOf(ms) ? 'count(*)' : 0)).join(', ')}]::int[]`;

export const bench: FamilyBench = {
  lists: {
    "a route's logs": {
      order: 70,
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
    'log feed': { order: 80, path: '/v1/logs' },
    'request logs': {
      order: 170,
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
      order: 180,
      path: '/admin/logs/stats',
      plane: 'dashboard',
      asks: {
        'last day': {},
        'last 16 hours': () => ({ from: minutesAgo(960) }),
        'last 30 days': () => ({ from: minutesAgo(43_200) }),
        'route_id, all': ({ routeId }) => ({ route_id: routeId }),
      },
    },
    "calls of a page's routes": { order: 220, path: ({ routeId }) => `/admin/logs/traffic?kind=route&ids=${routeId}`, plane: 'dashboard' },
    'calls by day': { order: 240, path: '/admin/logs/days', plane: 'dashboard' },
  },
  rows: [
    `insert into request_logs (request_id, tenant_id, route_id, method, status_code, src_ip, environment, sandbox, ts, path, latency_ms, upstream_host, proxy_mode, origin,
      upstream_status, upstream_ms, attempts, request_bytes, response_bytes, slug, route_name, user_agent, node_id, injected)
    select id, $tenant::uuid, $route::uuid, case when i % 20 = 0 then 'POST' else 'GET' end, case when i % 20 = 0 then 502 else 200 end, '127.0.0.1', $name, false, at, '/v1/charges/' || i, 12, 'api.example.com', 'route', 'upstream', 200, 11, 1, 0, 512,
      'orders', 'orders', 'bench/1', 'bench', '{header:authorization}' from made`,
    `insert into request_rollups (tenant_id, sandbox, minute, route_id, environment, status_class, count, errors, bytes_out, latency, upstream)
    select $tenant::uuid, false, date_trunc('minute', at), $route::uuid, $name, case when i % 20 = 0 then 5 else 2 end, count(*),
      count(*) filter (where i % 20 = 0), count(*) * 512, ${histogram(12)}, ${histogram(11)} from made group by 3, 6`,
    `insert into route_log_totals (tenant_id, sandbox, route_id, environment, status_code, method, n)
    select tenant_id, sandbox, route_id, environment, status_code, method, count(*) from request_logs where tenant_id = $tenant::uuid and not sandbox group by 1, 2, 3, 4, 5, 6`,
  ],
};
