import { Inbox } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const inboundWebhooks: PageFamily = {
  name: 'inbound-webhooks',
  pages: [
    {
      id: 'inbound',
      label: 'Inbound webhooks',
      icon: Inbox,
      scope: 'space',
      path: '/inbound',
      group: 'automation',
      order: 40,
      needs: 'inbound_webhook:list',
      docs: 'inbound-webhooks',
    },
  ],
  resources: [
    {
      type: 'inbound_webhook',
      noun: 'inbound webhook',
      plural: 'inbound webhooks',
      icon: Inbox,
      path: (id) => `/inbound?receiver=${id}`,
    },
  ],
};
