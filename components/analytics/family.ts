import { ChartLine } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const analytics: PageFamily = {
  name: 'analytics',
  pages: [
    {
      id: 'analytics',
      label: 'Analytics',
      icon: ChartLine,
      scope: 'space',
      path: '/analytics',
      group: 'observe',
      order: 12,
      keywords: ['metrics', 'latency', 'traffic', 'charts'],
      needs: 'analytics:read',
      docs: 'analytics',
      savedViews: { name: 'analytics', share: 'route:update' },
    },
  ],
};
