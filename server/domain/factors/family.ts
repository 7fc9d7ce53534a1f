import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const factors = family({
  name: 'factors',
  namespace: 'factors',
  router: 'factors',
  operations,
  resources: [{ type: 'mfa_credential' }],
  tables: [{ name: 'step_up_verifications', reset: 'stay' }],
});
