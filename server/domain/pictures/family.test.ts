import { testFamily } from '#server/testing/suites.ts';
import { pictures } from './family.ts';

await testFamily(pictures);
