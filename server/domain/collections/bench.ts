import { type FamilyBench, rare, some } from '#scripts/bench/family-bench.ts';

export const bench: FamilyBench = {
  lists: {
    collections: {
      order: 40,
      path: '/v1/collections',
      sorts: ['name'],
      asks: { 'q of one row': { q: rare }, 'q of 0.7 %': { q: some }, 'q of all': { q: 'team' } },
    },
    "a collection's variables": { order: 150, path: ({ collectionId }) => `/v1/collections/${collectionId}/variables` },
    'a collection': { order: 160, path: ({ collectionId }) => `/v1/collections/${collectionId}` },
  },
  rows: [
    `insert into collections (id, tenant_id, sandbox, name, slug, created_at, updated_at)
    select id, $tenant::uuid, false, 'Team ' || md5(i::text), 'team-' || i, at, at from made`,
  ],
  counts: { collections: 'collections' },
};
