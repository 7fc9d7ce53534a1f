import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import { refreshAll } from './detection.ts';
import { leases } from './leases.ts';
import { pruneObservations } from './observations/service.ts';
import * as operations from './operations.ts';
import { mailWeekly } from './weekly-mail.ts';

export const opportunities = family({
  name: 'opportunities',
  namespace: 'opportunities',
  router: 'opportunities',
  tag: 'Opportunities',
  descriptions,
  operations,
  resources: [
    { type: 'opportunity', search: { needs: 'opportunity:list', page: (id) => `/opportunities?id=${id}` } },
    { type: 'egress_host' },
  ],
  tables: [
    { name: 'opportunities', reset: 'delete' },
    { name: 'opportunity_traffic', reset: 'delete' },
    { name: 'opportunity_watermarks', reset: 'delete' },
    { name: 'egress_observations', reset: 'delete' },
    { name: 'egress_ignored_hosts', reset: 'delete' },
  ],
  actions: [
    { id: 'review-opportunities', title: 'Review opportunities', path: '/opportunities', needs: 'opportunity:accept' },
    { id: 'view-uncovered-egress', title: 'View uncovered egress', path: '/opportunities/egress', needs: 'opportunity:list' },
  ],
  leases,
  jobs: {
    refresh_opportunities: { cron: '25 * * * *', run: ({ now }) => refreshAll(now) },
    mail_opportunities: { cron: '40 8 * * 1', run: ({ now }) => mailWeekly(now) },
    prune_egress_observations: { cron: '55 2 * * *', run: ({ now }) => pruneObservations(now) },
  },
});
