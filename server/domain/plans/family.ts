import { family } from '#server/kernel/family.ts';

export const plans = family({
  name: 'plans',
  // Triggers of the counted tables keep `row_counts`.
  tables: [
    { name: 'row_counts', reset: 'cascade' },
    { name: 'tenant_limit_overrides', reset: 'stay' },
  ],
});
