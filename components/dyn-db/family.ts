import { Database } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const dynDb: PageFamily = {
  name: 'dyn-db',
  pages: [
    {
      id: 'database-credentials',
      label: 'Database credentials',
      icon: Database,
      scope: 'space',
      path: '/database-credentials',
      group: 'secrets',
      order: 35,
      needs: 'dyn_db_cred:read',
      docs: 'database-credentials',
    },
  ],
  resources: [
    {
      type: 'dyn_db_connection',
      noun: 'database connection',
      plural: 'database connections',
      icon: Database,
      path: (id) => `/database-credentials/${id}`,
    },
    { type: 'dyn_db_role', noun: 'database role' },
    { type: 'dyn_db_lease', noun: 'database lease' },
  ],
};
