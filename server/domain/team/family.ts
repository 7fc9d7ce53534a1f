import { family } from '#server/kernel/family.ts';
import { isUuid } from '#server/kernel/fields.ts';
import * as operations from './operations.ts';

export const team = family({
  name: 'team',
  namespace: 'team',
  router: 'team',
  operations,
  resources: [
    {
      type: 'invitation',
      inspect: {
        needs: 'member:invite',
        find: async (tx, ctx, id) => {
          const row = isUuid(id) ? await tx.invitations.findFirst({ where: { id, tenant_id: ctx.tenant_id } }) : null;
          return row && { title: row.email, subtitle: `Invited as ${row.role}`, path: '/settings/team', scope: 'workspace' };
        },
      },
    },
  ],
  tables: [{ name: 'invitations', reset: 'stay' }],
  actions: [
    { id: 'invite-member', title: 'Invite member', path: '/settings/team?invite=true', scope: 'workspace', needs: 'member:invite' },
  ],
  made: [
    {
      type: 'invitation',
      table: 'invitations',
      label: ['invitation', 'invitations'],
      name: `r.email || ' as ' || r.role`,
      works: 'r.accepted_at is null and r.revoked_at is null and r.expires_at > $3',
      end: { set: 'revoked_at = $3', action: 'revoke', needs: 'member:invite' },
      scope: 'workspace',
    },
  ],
});
