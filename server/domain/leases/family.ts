import { family } from '#server/kernel/family.ts';

export const leases = family({
  name: 'leases',
  // Handlers drop leases whose resource is gone.
  tables: [{ name: 'leases', reset: 'stay' }],
});
