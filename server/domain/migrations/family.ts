import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import * as operations from './operations.ts';
import { PROVIDER_LABELS, type ProviderName } from './register.shared.ts';
import { sweepMigrations } from './sweep.ts';
import { wipeItems } from './wiping.ts';
import { discoverOne, resumeDiscoveries } from './worker.ts';

export const migrations = family({
  name: 'migrations',
  namespace: 'migrations',
  router: 'migrations',
  operations,
  resources: [
    {
      type: 'secret_migration',
      inspect: {
        needs: 'migration:read',
        find: async (tx, ctx, id) => {
          const row = await tx.secret_migrations.findFirst({
            where: { ...own(ctx), id },
            select: { id: true, provider: true, status: true },
          });
          return (
            row && {
              title: PROVIDER_LABELS[row.provider as ProviderName],
              subtitle: row.status.replaceAll('_', ' '),
              path: `/migrations/${row.id}`,
            }
          );
        },
      },
    },
    {
      type: 'secret_migration_item',
      inspect: {
        needs: 'migration:read',
        find: async (tx, ctx, id) => {
          const where = { ...own(ctx), id };
          const row = await tx.secret_migration_items.findFirst({ where, select: { source_name: true, migration_id: true, status: true } });
          return row && { title: row.source_name, subtitle: row.status.replaceAll('_', ' '), path: `/migrations/${row.migration_id}` };
        },
      },
    },
    { type: 'migration_credential' },
    { type: 'migration_denylist' },
    { type: 'migration_verification' },
    { type: 'migration_intercept_rule' },
    { type: 'migration_db_proxy_route' },
  ],
  tables: [
    { name: 'secret_migrations', reset: 'delete', before: ['collections'] },
    { name: 'secret_migration_items', reset: 'cascade', wipe: wipeItems },
    { name: 'secret_migration_credentials', reset: 'cascade' },
    { name: 'secret_migration_events', reset: 'cascade' },
    { name: 'secret_migration_notices', reset: 'cascade' },
    { name: 'migration_intercept_rules', reset: 'cascade' },
    { name: 'migration_db_routes', reset: 'cascade' },
    { name: 'migration_denylists', reset: 'stay' },
  ],
  actions: [
    { id: 'create-migration', title: 'Migrate secrets from another store', path: '/migrations?open=new', needs: 'migration:create' },
  ],
  jobs: {
    discover_migration: { run: ({ payload, signal }) => discoverOne(db(), payload, signal) },
    resume_migrations: { cron: '* * * * *', run: ({ now, signal }) => resumeDiscoveries(db(), now, signal) },
    sweep_migrations: { cron: '*/5 * * * *', run: ({ now }) => sweepMigrations(db(), now) },
  },
});
