import { family } from '#server/kernel/family.ts';

export const factors = family({
  name: 'factors',
  resources: [{ type: 'mfa_credential' }],
  tables: [{ name: 'step_up_verifications', reset: 'stay' }],
});
