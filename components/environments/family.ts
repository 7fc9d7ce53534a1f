import { Boxes } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const environments: PageFamily = {
  name: 'environments',
  pages: [
    {
      id: 'environments',
      label: 'Environments',
      icon: Boxes,
      scope: 'space',
      path: '/environments',
      group: 'gateway',
      order: 40,
      needs: 'environment:list',
      below: 'environment:read',
      docs: 'environments',
    },
  ],
  resources: [{ type: 'environment', noun: 'environment', plural: 'environments', icon: Boxes, path: () => '/environments', promoted: 50 }],
};
