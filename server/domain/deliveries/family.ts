import { family } from '#server/kernel/family.ts';

export const deliveries = family({
  name: 'deliveries',
  // What is on its way when its subscription goes is dropped.
  tables: [{ name: 'deliveries', reset: 'stay' }],
});
