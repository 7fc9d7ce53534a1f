import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { endMembership, pruneClientTokens } from './revocation.ts';

export const clientTokens = family({
  name: 'client-tokens',
  namespace: 'client_tokens',
  router: 'clientTokens',
  tag: 'Client tokens',
  descriptions,
  operations,
  resources: [{ type: 'client_token' }],
  tables: [{ name: 'client_tokens', reset: 'delete' }],
  jobs: { prune_client_tokens: { cron: '25 2 * * *', run: ({ now }) => pruneClientTokens(now) } },
  membershipEnds: endMembership,
});
