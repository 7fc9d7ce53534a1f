import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['environments', 'secrets'],
  run: async (make) => {
    await make('migrations.create', {
      provider: 'env_file',
      file_name: 'shop.env',
      content: 'SHOP_DATABASE_URL=postgres://shop:not-a-real-password@db.internal/shop\nSHOP_MAIL_KEY=not-a-real-key-7\n',
    });
  },
};
