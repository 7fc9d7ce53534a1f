import { testFamily } from '#server/testing/suites.ts';
import { aiTrust } from './family.ts';

await testFamily(aiTrust);
