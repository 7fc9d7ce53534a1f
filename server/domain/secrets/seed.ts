import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['environments', 'collections'],
  run: async (make, ids) => {
    const collection_id = ids.payments;
    const { id } = await make('secrets.create', { name: 'STRIPE_KEY', value: 'not-a-real-key-1', collection_id, tags: ['payments'] });
    ids.stripe_key = String(id);
    await make('secrets.put_value', { id, value: 'not-a-real-key-2', environment: 'staging' });
    await make('secrets.create', { name: 'WEATHER_TOKEN', value: 'not-a-real-token', expires_at: '2027-01-01T00:00:00Z' });
  },
};
