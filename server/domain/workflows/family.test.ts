import { testFamily } from '#server/testing/suites.ts';
import { workflows } from './family.ts';

await testFamily(workflows);
