import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { pruneWrapTokens } from './expiry.ts';
import { notifyExposed } from './notices.ts';
import * as operations from './operations.ts';

export const wrap = family({
  name: 'wrap',
  namespace: 'wrap',
  router: 'wrap',
  tag: 'Wrap credentials',
  descriptions,
  operations,
  resources: [
    // A wrap credential is a secret, and found as one.
    { type: 'wrap_credential' },
    {
      type: 'wrap_token',
      limit: 'wrap_tokens',
      inspect: {
        needs: 'secret:read',
        find: async (tx, ctx, id) => {
          const row = await tx.wrap_tokens.findFirst({
            where: { ...own(ctx), id },
            select: { label: true, host: true, secret: { select: { name: true } } },
          });
          return row && { title: row.label ?? `Token for ${row.host}`, subtitle: row.secret.name, path: '/wrap?tab=tokens' };
        },
      },
    },
  ],
  tables: [{ name: 'wrap_tokens', reset: 'cascade' }],
  actions: [{ id: 'wrap-sdk', title: 'Wrap an SDK key', path: '/wrap?open=new', needs: 'secret:create' }],
  jobs: {
    prune_wrap_tokens: { cron: '35 2 * * *', run: ({ now }) => pruneWrapTokens(db(), now) },
    mail_exposed_wrap_tokens: { cron: '* * * * *', run: ({ now }) => notifyExposed(db(), now) },
  },
  made: [
    {
      type: 'wrap_token',
      table: 'wrap_tokens',
      label: ['gateway token', 'gateway tokens'],
      name: `coalesce(r.label || ' for ', '') || r.host`,
      works: 'r.revoked_at is null and coalesce(r.expires_at > $3, true)',
      end: { set: `revoked_at = $3, revoked_reason = 'requested'`, action: 'revoke', needs: 'secret:update' },
    },
  ],
});
