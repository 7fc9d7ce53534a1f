import { Import } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const imports: PageFamily = {
  name: 'import',
  pages: [
    {
      id: 'import',
      label: 'Import',
      icon: Import,
      scope: 'space',
      path: '/import',
      group: 'gateway',
      order: 50,
      needs: 'route:create',
    },
  ],
};
