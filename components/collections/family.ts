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
      needs: 'collection:list',
      below: 'collection:read',
      docs: 'collections',
    },
  ],
  resources: [
    { type: 'collection', noun: 'collection', plural: 'collections', icon: Layers, path: (id) => `/collections/${id}`, promoted: 40 },
    { type: 'collection_variable', noun: 'collection variable' },
  ],
};
