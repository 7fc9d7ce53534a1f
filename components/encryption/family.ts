import { FileLock2 } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const encryption: PageFamily = {
  name: 'encryption',
  pages: [
    {
      id: 'encryption',
      label: 'Encryption',
      icon: FileLock2,
      scope: 'space',
      path: '/encryption',
      group: 'data',
      order: 30,
      needs: 'transit:read',
      docs: 'encryption',
    },
  ],
  resources: [{ type: 'element_settings', noun: 'Element origins' }],
};
