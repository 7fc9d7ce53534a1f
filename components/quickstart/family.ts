import { Rocket } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const quickstart: PageFamily = {
  name: 'quickstart',
  pages: [
    {
      id: 'quickstart',
      label: 'Quickstart',
      icon: Rocket,
      scope: 'space',
      path: '/quickstart',
      group: 'developers',
      order: 30,
      keys: 'g q',
      docs: 'quickstart',
    },
  ],
};
