import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { noticeExpiringCards, sweepExpired } from './expiry.ts';
import { alertOfGuessing } from './guessing-alert.ts';
import * as operations from './operations.ts';
import { purgeVaults } from './purge.ts';
import { rewrapVaults } from './rewrap.ts';
import { wipeTokens } from './tokens.ts';

export const vaults = family({
  name: 'vaults',
  namespace: 'vaults',
  router: 'vaults',
  tag: 'Vaults',
  descriptions,
  operations,
  resources: [
    {
      type: 'vault',
      limit: 'vaults',
      search: { needs: 'vault:read', page: (id) => `/vaults/${id}` },
    },
    // Tokens aren't found by the palette: who may list them passes a reveal.
    { type: 'vault_token', limit: 'vault_tokens' },
  ],
  tables: [
    { name: 'vaults', reset: 'delete', before: ['crypto_keys'] },
    { name: 'vault_tokens', reset: 'cascade', wipe: wipeTokens },
    { name: 'vault_token_counts', reset: 'cascade' },
    { name: 'vault_card_notices', reset: 'cascade' },
  ],
  actions: [{ id: 'create-vault', title: 'Create vault', path: '/vaults?open=new', needs: 'vault:create' }],
  jobs: {
    sweep_expired_tokens: { cron: '*/5 * * * *', run: ({ now }) => sweepExpired(db(), now) },
    notice_expiring_cards: { cron: '15 0 * * *', run: ({ now }) => noticeExpiringCards(db(), now) },
    rewrap_vaults: { cron: '* * * * *', run: ({ signal }) => rewrapVaults({ signal }) },
    purge_vaults: { cron: '*/10 * * * *', run: ({ now, signal }) => purgeVaults(now, { signal }) },
    vault_guessing_alert: { run: ({ payload, now }) => alertOfGuessing(db(), payload, now) },
  },
});
