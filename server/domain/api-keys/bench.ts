import type { FamilyBench } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    'api keys': {
      order: 50,
      path: '/v1/api-keys',
      sorts: ['created_at', 'name', 'last_used_at'],
      asks: {
        'active=true, 95 %': { active: 'true' },
        'active=false, 5 %': { active: 'false' },
        'key_type=standard, 95 %': { key_type: 'standard' },
        'key_type=access_key, 5 %': { key_type: 'access_key' },
      },
    },
  },
  rows: [
    `insert into api_keys (id, tenant_id, sandbox, key_id, key_prefix, digest, key_type, name, active, role_ids, created_at, updated_at)
    select id, $tenant::uuid, false, key_id, left(key_id, 12), sha256(key_id::bytea), case when i % 20 = 0 then 'access_key' else 'standard' end, 'key ' || i, i % 20 <> 0, role_ids, at, at
    from (select *, 'tk_live_' || translate(left(md5(i::text || $tenant), 16), '0189', 'wxyz') as key_id from made) m,
      (select role_ids from api_keys where tenant_id = $tenant::uuid and not sandbox limit 1) k`,
    `insert into credential_usage (id, tenant_id, sandbox, last_used_at, last_used_ip) select id, $tenant::uuid, false, at, '127.0.0.1' from made where i % 2 = 0`,
  ],
  counts: { api_keys: 'api_keys where active', api_keys_all: 'api_keys' },
};
