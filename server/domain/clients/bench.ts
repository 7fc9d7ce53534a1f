import { type FamilyBench, rare, some } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    clients: {
      order: 30,
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
    "a client's credentials": { order: 120, path: ({ clientId }) => `/v1/clients/${clientId}/credentials` },
  },
  rows: [
    `insert into clients (id, tenant_id, sandbox, name, type, ip_address, enabled, collection_id, created_at, updated_at)
    select id, $tenant::uuid, false, 'client ' || md5(i::text), case when i % 20 = 0 then 'user' else 'server' end, ip, i % 20 <> 0, team, at, at
    from (select *, host('10.0.0.0'::inet + i) as ip from placed) m`,
    `insert into client_credentials (id, tenant_id, sandbox, client_id, kind, label, data, ip_range, is_primary, created_at, updated_at)
    select child, $tenant::uuid, false, id, 'ip', 'primary', jsonb_build_object('value', ip), ip, true, at, at from (select *, host('10.0.0.0'::inet + i) as ip from made) m`,
  ],
  counts: { clients: 'clients' },
};
