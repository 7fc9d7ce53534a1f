import { type FamilyBench, minutesAgo, rare, some } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    'audit logs': {
      order: 60,
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
    'audit feed': { order: 90, path: '/v1/audit-logs/events' },
    timeline: {
      order: 190,
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
    'timeline facets': { order: 200, path: '/admin/audit-logs/facets', plane: 'dashboard' },
    'critical entries': { order: 210, path: '/admin/audit-logs/critical', plane: 'dashboard' },
  },
  rows: [
    `insert into audit_logs (id, tenant_id, sandbox, action, resource_type, resource_id, details, actor_type, actor_id, actor_label, request_id, created_at)
    select id, $tenant::uuid, false, (array['create', 'update', 'delete'])[1 + i % 3], (array['route', 'secret', 'client', 'api_key'])[1 + i % 4], id::text,
      jsonb_build_object('name', 'thing ' || md5(i::text)), 'api_key', 'k' || i % 20, 'key ' || i % 20, gen_random_uuid()::text, at from made`,
  ],
  counts: { audit_logs: 'audit_logs' },
};
