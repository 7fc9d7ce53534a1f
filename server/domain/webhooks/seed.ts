import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('webhooks.create', {
      name: 'Order alerts',
      url: 'https://hooks.example.com/sallyport/orders',
      description: 'Tells the order service about calls that fail',
      event_types: ['request.error', 'request.timeout'],
      hmac_format: 'stripe',
      include_request_body: false,
      enabled: false,
    });
    await make('webhooks.create', {
      name: 'Secret lifecycle',
      url: 'https://chat.example.com/hooks/security',
      description: 'Expiring secrets and everything that is changed',
      event_types: ['secret.expiring', 'secret.expired', 'audit.event'],
      filters: { audit: ['secret.*', 'api_key.*'] },
      enabled: false,
    });
  },
};
