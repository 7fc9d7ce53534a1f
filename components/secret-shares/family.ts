import { Share2 } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const secretShares: PageFamily = {
  name: 'secret-shares',
  pages: [
    {
      id: 'shared-secrets',
      label: 'Shared with me',
      icon: Share2,
      scope: 'space',
      path: '/shared-secrets',
      group: 'secrets',
      order: 12,
      needs: 'secret:read',
      docs: 'secret-sharing',
    },
  ],
  resources: [{ type: 'secret_share', noun: 'share', plural: 'shares', icon: Share2 }],
};
