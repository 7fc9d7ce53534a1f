import { testFamily } from '#server/testing/suites.ts';
import { agents } from './family.ts';

await testFamily(agents);
