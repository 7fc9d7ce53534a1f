import { type FamilyBench, rare, some } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    secrets: {
      order: 20,
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
    "a secret's versions": { order: 250, path: ({ secretId }) => `/admin/secrets/${secretId}/versions`, plane: 'dashboard' },
    "a secret's usage": { order: 260, path: ({ secretId }) => `/admin/secrets/${secretId}/usage`, plane: 'dashboard' },
  },
  rows: [
    `insert into secrets (id, tenant_id, sandbox, name, shortcode_name, base_environment, collection_id, tags, expires_at, created_at, updated_at)
    select id, $tenant::uuid, false, 'SECRET_' || upper(md5(i::text)), 'SECRET_' || upper(md5(i::text)), $name, team,
      case when i % 20 = 0 then '{bench,pci}'::text[] else '{bench}' end, case when i % 50 = 0 then now() + interval '3 days' when i % 10 = 0 then now() + interval '90 days' end, at, at from placed`,
    `insert into secret_environments (id, tenant_id, sandbox, secret_id, environment_name, value_version, current_value_id, created_at, updated_at)
    select child, $tenant::uuid, false, id, $name, 1, value, at, at from made`,
    `insert into secret_values (id, tenant_id, sandbox, secret_environment_id, value_version, value_ct, cek_wrapped, tmk_version, created_at)
    select value, $tenant::uuid, false, child, 1, decode(repeat(md5(i::text), 3), 'hex'), decode(repeat(md5(i::text), 3), 'hex'), 1, at from made`,
  ],
  counts: { secrets: 'secrets' },
};
