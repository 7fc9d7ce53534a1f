import { testFamily } from '#server/testing/suites.ts';
import { collections } from './family.ts';

await testFamily(collections);
