import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('dyn_db.create', {
      name: 'orders',
      engine: 'postgres',
      host: 'db.example.com',
      database_name: 'orders',
      admin_username: 'broker',
      admin_password: 'not-a-real-password-1',
      connect_options: { sslmode: 'verify-full' },
    });
    await make('dyn_db.create_role', { connection: 'orders', name: 'readonly', template: 'readonly' });
    await make('dyn_db.create_role', {
      connection: 'orders',
      name: 'reporting',
      template: 'readonly',
      default_ttl_seconds: 900,
      max_ttl_seconds: 7_200,
    });
    await make('dyn_db.create', {
      name: 'catalog',
      engine: 'mongo',
      host: 'mongo.example.com',
      database_name: 'catalog',
      admin_username: 'broker',
      admin_password: 'not-a-real-password-2',
    });
    await make('dyn_db.create_role', { connection: 'catalog', name: 'readwrite', template: 'readwrite' });
  },
};
