import { own } from '#server/kernel/context.ts';
import { disabling, family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { tellOfEndingCredentials } from './ending-notices.ts';
import * as operations from './operations.ts';
import { sweepNonces } from './signature-nonces.ts';

export const clients = family({
  name: 'clients',
  namespace: 'clients',
  router: 'clients',
  tag: 'Clients',
  descriptions,
  operations,
  resources: [
    {
      type: 'client',
      limit: 'clients',
      search: { needs: 'client:read', page: (id) => `/clients/${id}` },
    },
    {
      type: 'client_credential',
      inspect: {
        needs: 'client:read',
        find: async (tx, ctx, id) => {
          const row = await tx.client_credentials.findFirst({
            where: { ...own(ctx), id },
            select: { kind: true, client: { select: { id: true, name: true } } },
          });
          return row && { title: row.kind, subtitle: row.client.name, path: `/clients/${row.client.id}` };
        },
      },
    },
  ],
  tables: [
    { name: 'clients', reset: 'delete', before: ['collections'] },
    { name: 'client_credentials', reset: 'cascade' },
    { name: 'client_authorities', reset: 'stay' },
  ],
  jobs: {
    sweep_signature_nonces: { cron: '25 * * * *', run: ({ now, signal }) => sweepNonces(now, signal) },
    tell_of_ending_credentials: { cron: '50 8 * * *', run: ({ now }) => tellOfEndingCredentials(db(), now) },
  },
  actions: [{ id: 'create-client', title: 'Create client', path: '/clients?open=new', needs: 'client:create' }],
  savedViews: { clients: { see: 'client:read', share: 'client:update' } },
  made: [
    {
      type: 'client_credential',
      table: 'client_credentials',
      label: ['client credential', 'client credentials'],
      name: `(select c.name from clients c where c.id = r.client_id) || ' (' || r.kind || ')'`,
      works: 'r.enabled and coalesce(r.expires_at > $3, true)',
      end: disabling('client:update'),
    },
  ],
});
