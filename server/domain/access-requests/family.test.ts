import { testFamily } from '#server/testing/suites.ts';
import { accessRequests } from './family.ts';

await testFamily(accessRequests);
