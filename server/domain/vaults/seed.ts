import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('vaults.create', { name: 'cards', token_format: 'pan', description: 'Card numbers of the shop' });
    await make('vaults.tokenize', {
      vault: 'cards',
      value: '4242424242424242',
      card_exp_month: 12,
      card_exp_year: 2028,
      metadata: { customer: 'cus_812' },
    });
    await make('vaults.tokenize', { vault: 'cards', value: '378282246310005', metadata: { customer: 'cus_813' } });
    await make('vaults.create', { name: 'emails', token_format: 'email', dedupe: true, description: 'Email addresses, one token each' });
    await make('vaults.tokenize', { vault: 'emails', value: 'jane.doe@example.com' });
  },
};
