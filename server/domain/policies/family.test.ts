import { testFamily } from '#server/testing/suites.ts';
import { policies } from './family.ts';

await testFamily(policies);
