import { Layers } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const collections: PageFamily = {
  name: 'collections',
  pages: [
    {
      id: 'collections',
      label: 'Collections',
      icon: Layers,
      scope: 'space',
      path: '/collections',
      group: 'gateway',
      order: 20,
      keywords: ['group'],
      needs: 'collection:list',
      below: 'collection:read',
      docs: 'collections',
    },
  ],
};
