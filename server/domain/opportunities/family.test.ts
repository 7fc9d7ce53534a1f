import { testFamily } from '#server/testing/suites.ts';
import { opportunities } from './family.ts';

await testFamily(opportunities);
