import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';
import { pruneIncidents } from './pruning.ts';

export const alerts = family({
  name: 'alerts',
  namespace: 'alerts',
  router: 'alerts',
  operations,
  resources: [{ type: 'alert', search: { needs: 'alert:read', page: (id) => `/alerts?peek=${id}` } }],
  tables: [
    { name: 'alerts', reset: 'delete' },
    { name: 'alert_incidents', reset: 'cascade' },
    { name: 'alert_incident_entries', reset: 'cascade' },
    { name: 'alert_signals', reset: 'cascade' },
  ],
  actions: [{ id: 'create-alert', title: 'Create alert', path: '/alerts?open=new', needs: 'alert:create' }],
  jobs: { prune_incidents: { cron: '20 * * * *', run: ({ now }) => pruneIncidents(now) } },
});
