import { Radar, Route } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const opportunities: PageFamily = {
  name: 'opportunities',
  pages: [
    {
      id: 'opportunities',
      label: 'Opportunities',
      icon: Route,
      scope: 'space',
      path: '/opportunities',
      group: 'gateway',
      order: 70,
      needs: 'opportunity:list',
      docs: 'opportunities',
    },
    {
      id: 'uncovered-egress',
      label: 'Uncovered egress',
      icon: Radar,
      scope: 'space',
      path: '/opportunities/egress',
      group: 'gateway',
      order: 80,
      needs: 'opportunity:list',
      docs: 'opportunities',
    },
  ],
  resources: [
    { type: 'opportunity', noun: 'opportunity', plural: 'opportunities', icon: Route, path: (id) => `/opportunities?id=${id}` },
    { type: 'egress_host', noun: 'observed host' },
  ],
};
