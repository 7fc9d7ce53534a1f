import { testFamily } from '#server/testing/suites.ts';
import { people } from './family.ts';

await testFamily(people);
