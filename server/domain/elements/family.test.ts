import { testFamily } from '#server/testing/suites.ts';
import { elements } from './family.ts';

await testFamily(elements);
