import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    // Off: nobody listens there.
    await make('alert_channels.create', {
      ...{ name: 'On-call webhook', kind: 'webhook', url: 'https://hooks.example.com/on-call', enabled: false },
      signing_secret: 'demo-secret-of-the-on-call-webhook',
    });
  },
};
