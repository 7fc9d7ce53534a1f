import { Braces } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const explorer: PageFamily = {
  name: 'explorer',
  pages: [
    {
      id: 'explorer',
      label: 'API explorer',
      icon: Braces,
      scope: 'space',
      path: '/explorer',
      group: 'developers',
      order: 20,
      keys: 'g x',
      docs: 'openapi',
    },
  ],
};
