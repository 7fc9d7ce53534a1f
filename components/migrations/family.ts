import { FolderInput } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const migrations: PageFamily = {
  name: 'migrations',
  pages: [
    {
      id: 'migrations',
      label: 'Migrations',
      icon: FolderInput,
      scope: 'space',
      path: '/migrations',
      group: 'secrets',
      order: 90,
      needs: 'migration:read',
      docs: 'migrations',
    },
  ],
  resources: [
    { type: 'secret_migration', noun: 'migration', plural: 'migrations', icon: FolderInput, path: (id) => `/migrations/${id}` },
    { type: 'secret_migration_item', noun: 'migration item' },
    { type: 'migration_credential', noun: 'migration grant' },
    { type: 'migration_denylist', noun: 'migration denylist' },
    { type: 'migration_verification', noun: 'migration verification' },
    { type: 'migration_intercept_rule', noun: 'intercept rule' },
    { type: 'migration_db_proxy_route', noun: 'database proxy route' },
  ],
};
