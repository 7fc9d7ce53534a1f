import { testFamily } from '#server/testing/suites.ts';
import { aiSpend } from './family.ts';

await testFamily(aiSpend);
