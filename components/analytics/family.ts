import { ChartLine, Earth, HeartPulse } from 'lucide-react';
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
      needs: 'analytics:read',
      docs: 'analytics',
      savedViews: { name: 'analytics', share: 'route:update' },
    },
    {
      id: 'live',
      label: 'Live map',
      icon: Earth,
      scope: 'space',
      path: '/live',
      group: 'observe',
      order: 13,
      needs: 'analytics:read',
      docs: 'analytics',
    },
    {
      id: 'client-health',
      label: 'Client health',
      icon: HeartPulse,
      scope: 'space',
      path: '/client-health',
      group: 'observe',
      order: 14,
      needs: 'analytics:read',
      docs: 'analytics',
    },
  ],
};
