import { family } from '#server/kernel/family.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';

export const logStreams = family({
  name: 'log-streams',
  namespace: 'log_streams',
  router: 'logStreams',
  operations,
  resources: [{ type: 'log_stream' }],
  tables: [{ name: 'log_streams', reset: 'delete' }],
  actions: [{ id: 'create-log-stream', title: 'Create log stream', path: '/log-streams?open=new', needs: 'log_stream:manage' }],
  leases,
  made: [
    {
      type: 'log_stream',
      table: 'log_streams',
      label: ['log stream', 'log streams'],
      name: `r.name || ' (' || r.endpoint || ')'`,
      works: 'r.enabled',
      end: { set: 'enabled = false, wakes_at = null, updated_at = $3', action: 'disable', needs: 'log_stream:manage' },
    },
  ],
});
