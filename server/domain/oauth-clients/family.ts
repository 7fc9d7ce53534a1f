import { own } from '#server/kernel/context.ts';
import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { endTokens } from './tokens.ts';

export const oauthClients = family({
  name: 'oauth-clients',
  namespace: 'oauth_clients',
  router: 'oauthClients',
  tag: 'OAuth clients',
  descriptions,
  operations,
  resources: [
    {
      type: 'oauth_client',
      limit: 'oauth_clients',
      search: { needs: 'oauth_client:list', page: (id) => `/oauth-clients/${id}` },
      actions: [
        {
          verb: /^(?:rotate|revoke)(?:\s+(?:oauth\s+)?clients?)?(?:\s+|$)/i,
          title: (name) => `Rotate or revoke OAuth client ${name}`,
          needs: 'oauth_client:rotate',
        },
      ],
    },
  ],
  tables: [
    // Clients that mirror API keys go with them.
    { name: 'oauth_clients', reset: 'delete' },
    { name: 'oauth_client_secrets', reset: 'cascade' },
  ],
  actions: [{ id: 'create-oauth-client', title: 'Create OAuth client', path: '/oauth-clients?open=new', needs: 'oauth_client:create' }],
  made: [
    {
      type: 'oauth_client',
      table: 'oauth_clients',
      label: ['OAuth client', 'OAuth clients'],
      name: 'r.name',
      works: 'r.active and r.revoked_at is null and r.source_api_key_id is null and r.system_role is null',
      end: { set: 'active = false, revoked_at = $3, updated_at = $3', action: 'revoke', needs: 'oauth_client:revoke' },
      ended: async (tx, ctx, ids) => {
        for (const id of ids) await endTokens(tx, ctx, id, 'member_removed');
      },
    },
    {
      // Of clients that others made: this person rotated the secret, so they have seen it.
      type: 'oauth_client_secret',
      table: 'oauth_client_secrets',
      label: ['OAuth client secret', 'OAuth client secrets'],
      name: '(select c.name from oauth_clients c where c.id = r.client_row_id)',
      works: `r.revoked_at is null and coalesce(r.expires_at > $3, true) and exists (select from oauth_clients c
        where c.id = r.client_row_id and c.active and c.revoked_at is null and (c.made_by = any($2::uuid[])) is not true)`,
      end: { set: 'revoked_at = $3', action: 'revoke', needs: 'oauth_client:rotate' },
      resource: { type: 'oauth_client', id: 'r.client_row_id' },
      ended: async (tx, ctx, ids) => {
        const rows = await tx.oauth_client_secrets.findMany({
          where: { ...own(ctx), id: { in: [...ids] } },
          select: { client_row_id: true },
          distinct: ['client_row_id'],
        });
        for (const { client_row_id } of rows) await endTokens(tx, ctx, client_row_id, 'member_removed', ['client', 'user']);
      },
    },
  ],
});
