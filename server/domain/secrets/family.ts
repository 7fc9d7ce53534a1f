import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { descriptions } from './descriptions.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';
import { noticeRotations } from './rotation-notices.ts';
import { wipeSuperseded } from './service.ts';
import { wipeAllValues } from './values.ts';

export const secrets = family({
  name: 'secrets',
  namespace: 'secrets',
  router: 'secrets',
  tag: 'Secrets',
  descriptions,
  operations,
  resources: [
    {
      type: 'secret',
      limit: 'secrets',
      search: { needs: 'secret:read', page: (id) => `/secrets/${id}` },
      actions: [
        {
          verb: /^(?:rotate|change|set)(?:\s+(?:value|secrets?))*(?:\s+|$)/i,
          title: (name) => `Set a new value for ${name}`,
          needs: 'secret:update',
        },
      ],
    },
    {
      type: 'secret_version',
      inspect: {
        needs: 'secret:read',
        find: async (tx, ctx, id) => {
          const row = await tx.secret_values.findFirst({
            where: { ...own(ctx), id },
            select: {
              value_version: true,
              environment: { select: { environment_name: true, secret: { select: { id: true, name: true } } } },
            },
          });
          if (!row) return null;
          const { environment_name, secret } = row.environment;
          return {
            title: `Version ${row.value_version} in ${environment_name}`,
            subtitle: secret.name,
            path: `/secrets/${secret.id}?tab=history`,
          };
        },
      },
    },
  ],
  tables: [
    { name: 'secret_references', reset: 'delete', before: ['secrets', 'routes'] },
    { name: 'secrets', reset: 'delete', before: ['collections'] },
    { name: 'secret_environments', reset: 'cascade' },
    { name: 'secret_expiry_mails', reset: 'cascade' },
    { name: 'oauth_states', reset: 'cascade' },
    { name: 'secret_values', reset: 'cascade', wipe: wipeAllValues },
  ],
  actions: [
    { id: 'create-secret', title: 'Create secret', path: '/secrets?open=new', needs: 'secret:create' },
    { id: 'import-env', title: 'Import a .env file as secrets', path: '/secrets?open=env', needs: 'secret:create' },
  ],
  savedViews: { secrets: { see: 'secret:read', share: 'secret:update' } },
  jobs: {
    wipe_superseded_values: { cron: '5 * * * *', run: ({ now }) => wipeSuperseded(db(), now) },
    notice_rotations: { cron: '25 * * * *', run: ({ now }) => noticeRotations(now) },
  },
  leases,
});
