import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';
import { fetchDueIcons } from './service.ts';

export const routes = family({
  name: 'routes',
  namespace: 'routes',
  router: 'routes',
  tag: 'Routes',
  descriptions,
  operations,
  leases,
  resources: [
    {
      type: 'route',
      limit: 'routes',
      search: { needs: 'route:list', page: (id) => `/routes/${id}` },
    },
    { type: 'environment_config' },
    {
      type: 'route_example',
      inspect: {
        needs: 'route:test',
        find: async (tx, ctx, id) => {
          const row = await tx.route_examples.findFirst({
            where: { ...own(ctx), id },
            select: { name: true, route: { select: { id: true, name: true } } },
          });
          return row && { title: row.name, subtitle: row.route.name, path: `/routes/${row.route.id}?tab=test` };
        },
      },
    },
  ],
  tables: [
    { name: 'routes', reset: 'delete', before: ['collections', 'environments'] },
    { name: 'route_environment_configs', reset: 'cascade' },
    { name: 'route_client_assignments', reset: 'cascade' },
    { name: 'route_examples', reset: 'cascade' },
    { name: 'route_field_actions', reset: 'cascade' },
    { name: 'payload_captures', reset: 'cascade' },
  ],
  actions: [{ id: 'create-route', title: 'Create route', path: '/routes?create=true', needs: 'route:create' }],
  savedViews: { routes: { see: 'route:list', share: 'route:update' } },
  jobs: {
    fetch_route_icons: { cron: '* * * * *', run: ({ now, signal }) => fetchDueIcons(now, signal) },
  },
});
