import { ArrowRightLeft } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const sandbox: PageFamily = {
  name: 'sandbox',
  pages: [
    {
      id: 'promote',
      label: 'Promote and copy',
      icon: ArrowRightLeft,
      scope: 'space',
      path: '/promote',
      group: 'gateway',
      order: 60,
      needs: 'sandbox:promote',
      docs: 'concepts',
    },
  ],
  resources: [{ type: 'sandbox', noun: 'configuration' }],
};
