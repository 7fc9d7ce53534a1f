import type { PageSamples } from '#components/shell/page-family.ts';

export const samples: PageSamples = {
  // Nothing answers there: the pages of a connection that fails say more than those of one that works.
  make: async (post) => {
    const name = 'page-test';
    await post('/dyn-db-credentials', {
      name,
      engine: 'postgres',
      host: 'db.example.com',
      database_name: 'app',
      admin_username: 'sallyport',
      admin_password: 'page-test-password',
    });
    await post(`/dyn-db-credentials/${name}/roles`, { name: 'readonly', template: 'postgres-readonly' });
    return ['', '?tab=roles', '?tab=leases', '?tab=activity'].map((view) => `/database-credentials/${name}${view}`);
  },
};
