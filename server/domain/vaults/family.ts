import { family } from '#server/kernel/family.ts';

export const vaults = family({
  name: 'vaults',
  resources: [{ type: 'vault', limit: 'vaults' }, { type: 'vault_token' }],
  tables: [
    { name: 'vaults', reset: 'delete', before: ['crypto_keys'] },
    { name: 'vault_tokens', reset: 'cascade' },
    { name: 'vault_token_counts', reset: 'cascade' },
    { name: 'vault_card_notices', reset: 'cascade' },
  ],
});
