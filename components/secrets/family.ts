import { LockKeyhole } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const secrets: PageFamily = {
  name: 'secrets',
  pages: [
    {
      id: 'secrets',
      label: 'Secrets',
      icon: LockKeyhole,
      scope: 'space',
      path: '/secrets',
      group: 'secrets',
      order: 10,
      keys: 'g s',
      keywords: ['credentials', 'tokens', 'certificates'],
      needs: 'secret:read',
      docs: 'secrets',
      landing: 30,
    },
  ],
};
