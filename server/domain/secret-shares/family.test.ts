import { testFamily } from '#server/testing/suites.ts';
import { secretShares } from './family.ts';

await testFamily(secretShares);
