import { family } from '#server/kernel/family.ts';

export const policies = family({
  name: 'policies',
  tables: [{ name: 'tenant_policies', reset: 'stay' }],
});
