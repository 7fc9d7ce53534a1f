import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const secretShares = family({
  name: 'secret-shares',
  namespace: 'secret_shares',
  router: 'secretShares',
  operations,
  resources: [{ type: 'secret_share' }],
  tables: [
    { name: 'secret_share_days', reset: 'cascade' },
    { name: 'secret_shares', reset: 'delete' },
  ],
  made: [
    {
      type: 'secret_share',
      table: 'secret_shares',
      label: ['secret share', 'secret shares'],
      name: `r.secret_name || ' to ' || r.recipient_email`,
      works: `r.status in ('pending', 'active') and coalesce(r.expires_at > $3, true)`,
      end: { set: `status = 'revoked', revoked_at = $3, token_digest = null, updated_at = $3`, action: 'revoke', needs: 'secret:update' },
    },
  ],
});
