import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { pruneAcme } from './pruning.ts';
import { runValidation } from './validation.ts';

export const acme = family({
  name: 'acme',
  namespace: 'acme',
  router: 'acme',
  tag: 'ACME',
  descriptions,
  operations,
  resources: [
    {
      type: 'acme_account',
      inspect: {
        needs: 'pki:read',
        find: async (tx, ctx, id) => {
          const row = await tx.acme_accounts.findFirst({
            where: { ...own(ctx), id },
            select: { label: true, role: { select: { name: true, root: { select: { id: true, name: true } } } } },
          });
          return (
            row && {
              title: row.label ?? 'ACME account',
              subtitle: `${row.role.root.name}/${row.role.name}`,
              path: `/pki/${row.role.root.id}?tab=acme`,
            }
          );
        },
      },
    },
  ],
  tables: [
    { name: 'acme_accounts', reset: 'cascade' },
    { name: 'acme_orders', reset: 'cascade' },
    { name: 'acme_authorizations', reset: 'cascade' },
    { name: 'acme_challenges', reset: 'cascade' },
  ],
  jobs: {
    validate_acme_challenge: { run: ({ now, payload }) => runValidation(db(), now, payload) },
    prune_acme: { cron: '33 3 * * *', run: ({ now }) => pruneAcme(db(), now) },
  },
  made: [
    {
      type: 'acme_account',
      table: 'acme_accounts',
      label: ['ACME account', 'ACME accounts'],
      name: `coalesce(r.label, 'ACME account')`,
      works: `r.status = 'valid' or (r.status = 'pending' and r.expires_at > $3)`,
      end: { set: `status = 'revoked', value_ct = null, cek_wrapped = null, tmk_version = null`, action: 'revoke', needs: 'pki:sign' },
    },
  ],
});
