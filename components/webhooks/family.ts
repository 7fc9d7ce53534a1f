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
      keywords: ['events', 'notifications', 'callbacks', 'hooks', 'deliveries', 'subscriptions', 'slack'],
      needs: 'webhook:list',
      docs: 'webhooks',
    },
  ],
  resources: [
    { type: 'webhook', noun: 'webhook', plural: 'webhooks', icon: Webhook, path: (id) => `/webhooks/${id}` },
    { type: 'webhook_log', noun: 'webhook delivery' },
  ],
  picker: {
    fields: ['webhook_id'],
    list: (trpc, query) => trpc.webhooks.list.queryOptions({ per_page: query.per_page }),
    searches: false,
  },
};
