import { stopDeliveries } from '#server/domain/deliveries/service.ts';
import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { checkHealth } from './health.ts';
import * as operations from './operations.ts';
import { pruneWebhooks } from './pruning.ts';

export const webhooks = family({
  name: 'webhooks',
  namespace: 'webhooks',
  router: 'webhooks',
  tag: 'Webhooks',
  descriptions,
  operations,
  resources: [
    {
      type: 'webhook',
      limit: 'webhooks',
      search: { needs: 'webhook:read', page: (id) => `/webhooks/${id}` },
    },
    // An attempt is shown on the page of its webhook.
    { type: 'webhook_log' },
  ],
  tables: [
    { name: 'webhooks', reset: 'delete', before: ['crypto_keys'] },
    { name: 'webhook_secrets', reset: 'cascade' },
    { name: 'webhook_auths', reset: 'cascade' },
    { name: 'webhook_attempts', reset: 'cascade' },
  ],
  actions: [{ id: 'create-webhook', title: 'Create webhook', path: '/webhooks?open=new', needs: 'webhook:create' }],
  jobs: {
    check_webhook_health: { cron: '*/5 * * * *', run: ({ now }) => checkHealth(db(), now) },
    prune_webhooks: { cron: '25 * * * *', run: ({ now }) => pruneWebhooks(now) },
  },
  made: [
    {
      type: 'webhook',
      table: 'webhooks',
      label: ['webhook', 'webhooks'],
      name: `r.name || ' (' || coalesce(substring(r.url from '^https?://([^/?#]+)'), r.url) || ')'`,
      works: 'r.enabled',
      // It sends to an address of theirs, or they have seen the secret that it signs with.
      by: `r.made_by = any($2::uuid[]) or r.id = any(array(select s.webhook_id from webhook_secrets s where s.tenant_id = $1::uuid and s.made_by = any($2::uuid[]) and coalesce(s.expires_at > $3, true)))`,
      end: {
        set: `enabled = false, disabled_reason = 'manual', disabled_at = $3, updated_at = $3`,
        action: 'disable',
        needs: 'webhook:update',
      },
      ended: (tx, ctx, ids) => stopDeliveries(tx, ctx, ids),
    },
  ],
});
