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
});
