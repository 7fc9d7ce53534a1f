import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { endLoginsOfLeaver } from './endings.ts';
import { namedMembers } from './memberships.ts';
import * as operations from './operations.ts';
import { pruneIdentityData } from './service.ts';

export const people = family({
  name: 'people',
  namespace: 'auth',
  operations,
  resources: [
    {
      type: 'member',
      inspect: {
        needs: 'member:list',
        find: async (tx, ctx, id) => {
          const [member] = await namedMembers(tx, ctx, { ids: [id], most: 1 });
          return member ? { title: member.name, subtitle: null, path: `/settings/team?peek=${member.id}`, scope: 'workspace' } : null;
        },
      },
    },
    { type: 'user' },
    { type: 'session' },
  ],
  tables: [{ name: 'memberships', reset: 'stay' }],
  membershipEnds: endLoginsOfLeaver,
  jobs: {
    prune_identity_data: { cron: '20 * * * *', run: ({ now }) => pruneIdentityData(db(), now) },
  },
});
