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
      keywords: ['api', 'proxy', 'upstream'],
      needs: 'route:list',
      below: 'route:read',
      docs: 'routes',
      landing: 20,
    },
  ],
};
