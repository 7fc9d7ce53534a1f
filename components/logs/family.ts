import { ScrollText } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const logs: PageFamily = {
  name: 'logs',
  pages: [
    {
      id: 'logs',
      label: 'Logs',
      icon: ScrollText,
      scope: 'space',
      path: '/logs',
      group: 'observe',
      order: 10,
      keys: 'g l',
      needs: 'log:list',
      docs: 'logs',
      savedViews: { name: 'logs', share: 'route:update' },
      landing: 50,
    },
  ],
  resources: [{ type: 'request', noun: 'call', plural: 'calls', icon: ScrollText }],
};
