import { House } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const home: PageFamily = {
  name: 'home',
  pages: [
    {
      id: 'home',
      label: 'Home',
      icon: House,
      scope: 'space',
      path: '',
      group: 'home',
      order: 10,
      keys: 'g h',
      landing: 10,
    },
  ],
};
