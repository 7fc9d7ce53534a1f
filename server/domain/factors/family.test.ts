import { testFamily } from '#server/testing/suites.ts';
import { factors } from './family.ts';

await testFamily(factors);
