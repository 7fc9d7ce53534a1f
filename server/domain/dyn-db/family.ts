import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { scanForOrphans } from './checks.ts';
import { descriptions } from './descriptions.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';
import { resetDatabases } from './reset.ts';

export const dynDb = family({
  name: 'dyn-db',
  namespace: 'dyn_db',
  router: 'dynDb',
  tag: 'Dynamic DB Credentials',
  descriptions,
  operations,
  resources: [
    {
      type: 'dyn_db_connection',
      limit: 'dyn_db_connections',
      search: { needs: 'dyn_db_cred:read', page: (id) => `/database-credentials/${id}` },
    },
    { type: 'dyn_db_role' },
    { type: 'dyn_db_lease', limit: 'dyn_db_leases' },
  ],
  tables: [
    // Users that exist on servers must be revoked first: what leads to them goes with the last of their leases.
    { name: 'dyn_db_connections', reset: 'stay', wipe: resetDatabases },
    { name: 'dyn_db_passwords', reset: 'stay' },
    { name: 'dyn_db_ssh_keys', reset: 'stay' },
    { name: 'dyn_db_roles', reset: 'stay' },
    { name: 'dyn_db_leases', reset: 'stay' },
  ],
  leases,
  jobs: {
    scan_for_orphaned_database_users: { cron: '40 3 * * *', run: ({ now, signal }) => scanForOrphans(db(), now, signal) },
  },
  actions: [
    {
      id: 'create-database-connection',
      title: 'Create database connection',
      path: '/database-credentials?open=new',
      needs: 'dyn_db_cred:create',
    },
  ],
  made: [
    {
      type: 'dyn_db_lease',
      table: 'dyn_db_leases',
      label: ['database credential', 'database credentials'],
      name: `r.connection_name || '/' || r.role_name || ' (' || r.username || ')'`,
      works: `r.ended_at is null and r.phase <> 'revoking'`,
      // The sweeper removes the user.
      end: {
        set: `phase = 'revoking', ends_as = 'revoked', attempts = 0, next_attempt_at = null, status = case status when 'errored' then status else 'renewing' end`,
        action: 'revoke',
        needs: 'dyn_db_cred:revoke',
      },
    },
  ],
});
