import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    // Without a target: what is verified is counted and answered with 200.
    await make('inbound_webhooks.create', {
      name: 'payments',
      format: 'stripe',
      description: 'Payment events, verified before they reach the shop',
    });
    await make('inbound_webhooks.create', {
      name: 'repository',
      format: 'github',
      description: 'Pushes and releases',
      forward_url: 'https://builds.example.com/hooks/repository',
      enabled: false,
    });
  },
};
