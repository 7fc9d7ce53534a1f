import { retentionWindows } from '#server/domain/retention/service.ts';
import { disabling, family } from '#server/kernel/family.ts';
import { pruneDeliveries } from './deliveries.ts';
import * as operations from './operations.ts';

export const inboundWebhooks = family({
  name: 'inbound-webhooks',
  namespace: 'inbound_webhooks',
  router: 'inboundWebhooks',
  operations,
  resources: [
    {
      type: 'inbound_webhook',
      limit: 'inbound_webhooks',
      search: { needs: 'inbound_webhook:list', page: (id) => `/inbound?receiver=${id}` },
    },
  ],
  tables: [
    { name: 'inbound_webhooks', reset: 'delete' },
    { name: 'inbound_deliveries', reset: 'cascade' },
  ],
  jobs: { prune_inbound_deliveries: { cron: '45 * * * *', run: async ({ now }) => pruneDeliveries(await retentionWindows(now), now) } },
  actions: [
    { id: 'create-inbound-webhook', title: 'Create inbound webhook', path: '/inbound?receiver=new', needs: 'inbound_webhook:create' },
  ],
  made: [
    {
      // They have seen the secret that it believes.
      type: 'inbound_webhook',
      table: 'inbound_webhooks',
      label: ['inbound webhook', 'inbound webhooks'],
      name: 'r.name',
      works: 'r.enabled',
      end: disabling('inbound_webhook:update'),
    },
  ],
});
