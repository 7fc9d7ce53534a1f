import { family } from '#server/kernel/family.ts';

export const retention = family({
  name: 'retention',
  tables: [{ name: 'idempotency_keys', reset: 'delete' }],
});
