import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  after: ['environments', 'secrets'],
  run: async (make) => {
    await make('wrap.create_credential', {
      provider: 'openai',
      name: 'OPENAI_SDK_KEY',
      value: 'not-a-real-key-3',
      hosts: ['api.openai.com'],
      tags: ['ai'],
    });
    await make('wrap.create_token', { secret: 'OPENAI_SDK_KEY', label: 'support-bot', ttl_seconds: 2_592_000 });
  },
};
