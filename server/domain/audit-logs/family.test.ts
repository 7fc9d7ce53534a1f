import { testFamily } from '#server/testing/suites.ts';
import { auditLogs } from './family.ts';

await testFamily(auditLogs);
