import { Waypoints } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const routes: PageFamily = {
  name: 'routes',
  pages: [
    {
      id: 'routes',
      label: 'Routes',
      icon: Waypoints,
      scope: 'space',
      path: '/routes',
      group: 'gateway',
      order: 10,
      keys: 'g r',
      needs: 'route:list',
      below: 'route:read',
      docs: 'routes',
      savedViews: { name: 'routes', share: 'route:update' },
      landing: 20,
    },
  ],
  resources: [
    { type: 'route', noun: 'route', plural: 'routes', icon: Waypoints, path: (id) => `/routes/${id}`, promoted: 10 },
    { type: 'route_example', noun: 'saved route example' },
    { type: 'environment_config', noun: 'environment configuration' },
  ],
};
