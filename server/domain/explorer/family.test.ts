import { testFamily } from '#server/testing/suites.ts';
import { explorer } from './family.ts';

await testFamily(explorer);
