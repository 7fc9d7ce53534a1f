import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';
import { endProviderSubscription, pruneBillingEvents, retryPayment, stopRenewal, syncBilling } from './service.ts';

/** Of a job that is about one workspace. */
const tenantOf = ({ tenant_id }: Record<string, unknown>) => String(tenant_id);

export const billing = family({
  name: 'billing',
  namespace: 'billing',
  router: 'billing',
  operations,
  resources: [{ type: 'billing' }],
  tables: [
    { name: 'billing_accounts', reset: 'stay' },
    { name: 'billing_invoices', reset: 'stay' },
  ],
  leases,
  jobs: {
    sync_billing: { run: ({ now, payload }) => syncBilling(db(), tenantOf(payload), now) },
    retry_payment: { run: ({ now, payload }) => retryPayment(db(), tenantOf(payload), now) },
    end_provider_subscription: { run: ({ payload }) => endProviderSubscription(db(), tenantOf(payload)) },
    stop_renewal: { run: ({ payload }) => stopRenewal(db(), tenantOf(payload)) },
    prune_billing_events: { cron: '50 3 * * *', run: ({ now }) => pruneBillingEvents(db(), now) },
  },
});
