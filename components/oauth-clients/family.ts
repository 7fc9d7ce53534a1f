import { AppWindow } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const oauthClients: PageFamily = {
  name: 'oauth-clients',
  pages: [
    {
      id: 'oauth-clients',
      label: 'OAuth clients',
      icon: AppWindow,
      scope: 'space',
      path: '/oauth-clients',
      group: 'developers',
      order: 15,
      needs: 'oauth_client:list',
      docs: 'oauth-clients',
    },
  ],
  resources: [
    { type: 'oauth_client', noun: 'OAuth client', plural: 'OAuth clients', icon: AppWindow, path: (id) => `/oauth-clients/${id}` },
    { type: 'oauth_grant', noun: 'OAuth grant' },
    { type: 'trust_binding', noun: 'Trust binding' },
  ],
};
