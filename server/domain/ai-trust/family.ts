import { disabling, family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';
import { pruneClaims } from './pruning.ts';

export const aiTrust = family({
  name: 'ai-trust',
  namespace: 'ai_oidc_bindings',
  router: 'aiTrust',
  tag: 'AI trust',
  descriptions,
  operations,
  resources: [{ type: 'ai_oidc_binding' }],
  tables: [
    { name: 'ai_oidc_bindings', reset: 'cascade' },
    // What was exchanged once is never exchanged again.
    { name: 'ai_exchange_claims', reset: 'stay' },
  ],
  jobs: { prune_ai_exchange_claims: { cron: '45 2 * * *', run: ({ now }) => pruneClaims(now) } },
  made: [
    {
      type: 'ai_oidc_binding',
      table: 'ai_oidc_bindings',
      label: ['AI trust binding', 'AI trust bindings'],
      name: `r.name || ' (' || r.issuer || ')'`,
      works: 'r.enabled',
      end: disabling('ai_gateway:update'),
    },
  ],
});
