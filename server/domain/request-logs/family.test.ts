import { testFamily } from '#server/testing/suites.ts';
import { requestLogs } from './family.ts';

await testFamily(requestLogs);
