import { KeyRound } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const apiKeys: PageFamily = {
  name: 'api-keys',
  pages: [
    {
      id: 'api-keys',
      label: 'API keys',
      icon: KeyRound,
      scope: 'space',
      path: '/api-keys',
      group: 'developers',
      order: 10,
      needs: 'api_key:list',
      docs: 'api-keys',
      savedViews: { name: 'api_keys', share: 'api_key:update' },
    },
  ],
  resources: [{ type: 'api_key', noun: 'API key', plural: 'API keys', icon: KeyRound, path: () => '/api-keys' }],
};
