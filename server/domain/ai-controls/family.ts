import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const aiControls = family({
  name: 'ai-controls',
  namespace: 'ai_controls',
  router: 'aiControls',
  tag: 'AI controls',
  descriptions,
  operations,
  resources: [{ type: 'firewall_policy' }, { type: 'pii_policy' }, { type: 'pii_recognizer' }],
  tables: [
    { name: 'ai_firewall_policies', reset: 'delete' },
    { name: 'ai_pii_policies', reset: 'delete' },
    { name: 'ai_pii_recognizers', reset: 'delete' },
  ],
});
