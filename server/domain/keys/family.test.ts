import { testFamily } from '#server/testing/suites.ts';
import { keys } from './family.ts';

await testFamily(keys);
