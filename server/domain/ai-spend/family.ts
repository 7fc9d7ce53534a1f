import { retentionWindows } from '#server/domain/retention/service.ts';
import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { noticeFailingUpstreams, noticeUnpricedModels, raiseWaitingAlerts } from './jobs/alerts.ts';
import { pruneCalls } from './jobs/retention.ts';
import { foldUsage } from './jobs/rollup.ts';
import { sweepReservations } from './jobs/sweep.ts';
import * as operations from './operations.ts';

export const aiSpend = family({
  name: 'ai-spend',
  namespace: 'ai_spend',
  router: 'aiSpend',
  tag: 'AI spend',
  descriptions,
  operations,
  resources: [{ type: 'ai_user' }, { type: 'ai_price' }, { type: 'ai_limit_policy' }],
  tables: [
    { name: 'ai_attributed_users', reset: 'delete' },
    { name: 'ai_prices', reset: 'delete' },
    { name: 'ai_limit_policies', reset: 'delete' },
    { name: 'ai_request_logs', reset: 'delete' },
    { name: 'ai_usage_events', reset: 'delete' },
    { name: 'ai_usage_daily', reset: 'delete' },
    { name: 'ai_spend_counters', reset: 'delete' },
    { name: 'ai_reservations', reset: 'delete' },
    { name: 'ai_alerts', reset: 'delete' },
  ],
  jobs: {
    fold_ai_usage: { cron: '* * * * *', run: () => foldUsage() },
    sweep_ai_reservations: { cron: '* * * * *', run: ({ now }) => sweepReservations(now) },
    ai_alerts: {
      cron: '* * * * *',
      run: async ({ now }) =>
        (await noticeFailingUpstreams(now)) + (await noticeUnpricedModels(now)) + (await raiseWaitingAlerts(db(), now)),
    },
    prune_ai_calls: { cron: '25 * * * *', run: async ({ now }) => pruneCalls(await retentionWindows(now), now) },
  },
});
