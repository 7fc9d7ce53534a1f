import { family } from '#server/kernel/family.ts';
import { descriptions } from './descriptions.ts';
import * as operations from './operations.ts';

export const auditLogs = family({
  name: 'audit-logs',
  namespace: 'audit_logs',
  router: 'auditLogs',
  tag: 'Audit logs',
  descriptions,
  operations,
});
