import { Webhook } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const webhooks: PageFamily = {
  name: 'webhooks',
  pages: [
    {
      id: 'webhooks',
      label: 'Webhooks',
      icon: Webhook,
      scope: 'space',
      path: '/webhooks',
      group: 'automation',
      order: 30,
      keys: 'g w',
      needs: 'webhook:list',
      docs: 'webhooks',
    },
  ],
  resources: [
    { type: 'webhook', noun: 'webhook', plural: 'webhooks', icon: Webhook, path: (id) => `/webhooks/${id}` },
    { type: 'webhook_log', noun: 'webhook delivery' },
  ],
};
