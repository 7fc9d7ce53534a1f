import { testFamily } from '#server/testing/suites.ts';
import { reveals } from './family.ts';

await testFamily(reveals);
