import { family } from '#server/kernel/family.ts';

export const tenants = family({
  name: 'tenants',
  tables: [{ name: 'reserved_slugs', reset: 'stay' }],
});
