import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('crypto_keys.create', { name: 'orders', description: 'Encrypts addresses of orders', auto_rotate_days: 90 });
    await make('crypto_keys.create', { name: 'receipts', key_type: 'ed25519', description: 'Signs receipts for the app' });
    await make('crypto_keys.rotate', { name: 'receipts' });
    await make('crypto_keys.update', { name: 'receipts', jwks_public: true });
  },
};
