import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { endOwnerships } from './owners/service.ts';

export const collections = family({
  name: 'collections',
  namespace: 'collections',
  router: 'collections',
  tag: 'Collections',
  descriptions,
  operations,
  resources: [
    {
      type: 'collection',
      limit: 'collections',
      search: { needs: 'collection:list', page: (id) => `/collections/${id}` },
    },
    {
      type: 'collection_variable',
      inspect: {
        needs: 'collection:read',
        find: async (tx, ctx, id) => {
          const row = await tx.collection_variables.findFirst({
            where: { ...own(ctx), id },
            select: { key: true, collection: { select: { id: true, name: true } } },
          });
          return row && { title: row.key, subtitle: row.collection.name, path: `/collections/${row.collection.id}?tab=variables` };
        },
      },
    },
  ],
  membershipEnds: async (tx, ctx, userId) => ({ collection_ownerships: await endOwnerships(tx, ctx, userId) }),
  tables: [
    { name: 'collection_variables', reset: 'delete', before: ['secrets', 'collections'] },
    { name: 'collections', reset: 'delete' },
    { name: 'collection_environment_defaults', reset: 'cascade' },
  ],
  actions: [{ id: 'create-collection', title: 'Create collection', path: '/collections?create=true', needs: 'collection:create' }],
});
